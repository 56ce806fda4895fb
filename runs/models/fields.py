"""A JSON column kept as text, so that NUL and lone surrogates survive on every database."""

from __future__ import annotations

import json
from typing import Any

from django.db import models


class JSONTextField(models.TextField):  # type: ignore[type-arg]
    """Holds any JSON value as ASCII text: PostgreSQL's jsonb refuses NUL, and text refuses lone surrogates."""

    # What may be assigned and read, for the type checker: a plain TextField would say str.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any
    _pyi_lookup_exact_type: Any

    def from_db_value(self, value: str | None, expression: object, connection: object) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value, separators=(",", ":"), allow_nan=False)

    def to_python(self, value: Any) -> Any:
        return value
