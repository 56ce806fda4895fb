"""Reading what a guest or a child wrote: bounded in size, depth and encoding before anything is parsed."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NoReturn

from sandboxes.base import MAX_DEPTH, Progress
from sandboxes.quickjs.order import MAX_CALL_BYTES, MAX_PROGRESS_BYTES

MAX_TOOL_NAME_CHARS = 200
MAX_NOTE_CHARS = 2000

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEPS = [0] * 256
for _byte, _step in zip(b"[{]}", (1, 1, -1, -1), strict=True):
    _STEPS[_byte] = _step


class BadMessage(ValueError):
    """Something that no honest prelude or child would have sent."""


def _refuse(word: str) -> NoReturn:
    raise BadMessage(f"{word} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    call_id: int
    tool: str
    arguments_json: str


def depth_of(json_bytes: bytes) -> int:
    """Give how deep arrays and objects nest, without parsing: strings are cut out, brackets counted."""
    if json_bytes.count(b"[") + json_bytes.count(b"{") <= MAX_DEPTH:
        return MAX_DEPTH  # it cannot be deeper; most texts end here
    brackets = _STRINGS.sub(b"", json_bytes).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def read_call(payload: bytes) -> CallRequest:
    """Read `{"id", "tool", "args"}`; raises BadMessage."""
    body = _read_object(payload, most=MAX_CALL_BYTES)
    call_id, tool = body.get("id"), body.get("tool")
    if type(call_id) is not int or not 0 < call_id < 2**31:
        raise BadMessage("a call's id must be a small positive whole number")
    if not isinstance(tool, str):
        raise BadMessage("a call's tool must be text")
    try:
        arguments_json = _ENCODER.encode(body.get("args"))
    except (ValueError, RecursionError) as error:
        raise BadMessage("a call's arguments are not strict JSON") from error
    return CallRequest(call_id=call_id, tool=visible(tool)[:MAX_TOOL_NAME_CHARS], arguments_json=arguments_json)


def read_progress(payload: bytes) -> Progress:
    """Read `{"note", "completed", "total"}`; raises BadMessage."""
    body = _read_object(payload, most=MAX_PROGRESS_BYTES)
    note = body.get("note")
    return Progress(
        note=visible(note)[:MAX_NOTE_CHARS] if isinstance(note, str) else None,
        completed=_number(body.get("completed")),
        total=_number(body.get("total")),
    )


def read_text(payload: bytes) -> str:
    """Decode what a script printed; lone surrogates become visible escapes, other bad bytes a replacement sign."""
    try:
        return payload.decode()
    except UnicodeDecodeError:
        pass
    try:
        return visible(payload.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return payload.decode("utf-8", "replace")


def visible(text: str) -> str:
    """Turn lone surrogates, which no store takes, into their escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _read_object(payload: bytes, *, most: int) -> dict[str, Any]:
    if len(payload) > most:
        raise BadMessage(f"a message has {len(payload)} bytes, at most {most} are taken")
    if depth_of(payload) > MAX_DEPTH + 1:
        raise BadMessage("a message is nested too deeply")
    try:
        body = _DECODER.decode(payload.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise BadMessage("a message is not JSON") from error
    if not isinstance(body, dict):
        raise BadMessage("a message is not an object")
    return body


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
