"""Replies as bytes: JSON without a schema run over it (the schemas describe, the tests hold them to it)."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse


def json_bytes(payload: Any) -> bytes:
    """Encode as ASCII, so that a lone surrogate inside a string stays valid JSON and valid UTF-8."""
    return json.dumps(payload, separators=(",", ":"), allow_nan=False).encode("ascii")


def json_reply(payload: Any, *, status: int = 200) -> HttpResponse:
    return HttpResponse(json_bytes(payload), content_type="application/json", status=status)


def raw_reply(content: bytes, *, status: int = 200) -> HttpResponse:
    """Answer JSON that was encoded on a database thread."""
    return HttpResponse(content, content_type="application/json", status=status)
