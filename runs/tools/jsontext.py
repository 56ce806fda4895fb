"""JSON at the door of a tool: arguments read strictly, results written strictly, both bounded in size and depth."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any, NoReturn

from sandboxes.base import MAX_DEPTH, MAX_TOOL_RESULT_BYTES, MIB
from sandboxes.errors import InvalidInput, ToolProtocolError, ToolResultTooLarge

# As large as a result may be: what one tool gives, another can take.
MAX_ARGUMENTS_BYTES = MAX_TOOL_RESULT_BYTES


def read_arguments(text: str) -> dict[str, Any]:
    """Read a call's arguments, an object; nothing and `null` stand for `{}`. Raises InvalidInput."""
    # Characters are at most as many as bytes, so a text too long in characters is never even encoded.
    if len(text) > MAX_ARGUMENTS_BYTES or len(text.encode(errors="surrogatepass")) > MAX_ARGUMENTS_BYTES:
        raise InvalidInput(f"The arguments are larger than {MAX_ARGUMENTS_BYTES // MIB} MiB.", field="args")
    try:
        value = json.loads(text or "null", parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise InvalidInput("The arguments are no JSON.", field="args") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput("The arguments must be an object.", hint="Write tools.call(name, {…}).", field="args")
    if is_deeper(value, MAX_DEPTH):
        raise _too_deep()
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _too_deep() -> InvalidInput:
    return InvalidInput(f"The arguments are nested more than {MAX_DEPTH} deep.", field="args")


def write_result(value: Any) -> str:
    """Write a tool's result as strict JSON text; bytes become `{"$bytes": base64}`.

    Raises ToolResultTooLarge above 16 MiB of UTF-8, ToolProtocolError for what is no JSON or too deep.
    """
    if is_deeper(value, MAX_DEPTH):
        raise ToolProtocolError(f"The tool's result is nested more than {MAX_DEPTH} deep.")
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, default=_as_json)
    except (TypeError, ValueError, RecursionError):
        raise ToolProtocolError("The tool's result is no JSON.") from None
    return _bounded(text)


def _bounded(text: str) -> str:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8; escaped, it reaches the script as it was.
        text = json.dumps(json.loads(text))
        size = len(text)
    if size > MAX_TOOL_RESULT_BYTES:
        raise ToolResultTooLarge(
            f"The result is {size / MIB:.1f} MiB; one result may be {MAX_TOOL_RESULT_BYTES // MIB} MiB.",
            bytes=size,
        )
    return text


def _as_json(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    raise TypeError(type(value).__name__)


def is_deeper(value: Any, limit: int) -> bool:
    """Say whether arrays and objects are nested deeper than the limit; a value that holds itself is."""
    level = [value]
    for _ in range(limit + 1):
        # By identity: a value that holds itself twice would double at each level.
        below = {id(inner): inner for item in level for inner in _within(item) if isinstance(inner, _CONTAINERS)}
        if not below:
            return False
        level = list(below.values())
    return True


_CONTAINERS = (dict, list, tuple)


def _within(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
