"""A request to run something, checked once at the door."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandboxes.base import MAX_ARGS_BYTES, MAX_CODE_BYTES, MAX_DEPTH
from sandboxes.errors import InvalidInput, SourceTooLarge

TOOLS = ("js_run", "python_run", "execute")
FIELDS = frozenset({"tool", "code", "codePath", "title", "args", "inputs", "timeoutMs", "publishOnError"})
PYTHON_ONLY = ("inputs", "publishOnError")
MAX_TITLE_CHARS = 200
MAX_EXACT_INTEGER = 2**53
MAX_PATH_CHARS = 100

_LONG_NUMBER = re.compile(r"\d{16}")


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What a caller asks for; exactly one of `code` and `code_path` is set.

    `timeout_ms` and `max_tool_calls` may only lower the limits in force; None keeps them.
    """

    tool: str
    code: str | None = None
    code_path: str | None = None
    title: str = ""
    args_json: str = "{}"
    timeout_ms: int | None = None
    max_tool_calls: int | None = None


def parse_run_request(body: object) -> RunRequest:
    """Check a decoded JSON body field by field; refuses what it does not know, by name."""
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object.", hint='Send {"tool": "js_run", "code": "return 1"}.')
    for name in body:
        if name not in FIELDS:
            hint = f"The fields are {', '.join(sorted(FIELDS))}."
            raise InvalidInput(f"Unknown field `{_short(name)}`.", hint=hint, field=_short(name))
    tool = body.get("tool")
    if tool not in TOOLS:
        raise InvalidInput(f"`tool` must be one of {', '.join(TOOLS)}.", field="tool")
    if tool != "python_run":
        for name in PYTHON_ONLY:
            if name in body:
                raise InvalidInput(f"`{name}` belongs to python_run, not to {tool}.", field=name)
    code, code_path = _text(body, "code"), _text(body, "codePath")
    if (code is None) == (code_path is None):
        raise InvalidInput("Send exactly one of `code` and `codePath`.", field="code")
    if code is not None:
        check_code_size(code)
    title = (_text(body, "title") or "").strip()
    if len(title) > MAX_TITLE_CHARS:
        raise InvalidInput(f"A title has at most {MAX_TITLE_CHARS} characters.", field="title")
    return RunRequest(
        tool=str(tool),
        code=code,
        code_path=code_path,
        title=storable(title),
        args_json=encode_args(body.get("args", {})),
        timeout_ms=_positive_int(body, "timeoutMs"),
    )


def check_code_size(code: str) -> None:
    size = len(code.encode("utf-8", "surrogatepass"))
    if size > MAX_CODE_BYTES:
        raise SourceTooLarge(f"The code has {size:,} bytes; at most {MAX_CODE_BYTES:,} are taken.", field="code")


def encode_args(args: Any) -> str:
    """Give the script's arguments as bounded JSON text."""
    if not isinstance(args, dict):
        raise InvalidInput("`args` must be a JSON object.", field="args")
    if is_too_deep(args):
        raise InvalidInput(f"`args` is nested more than {MAX_DEPTH} levels deep.", field="args")
    text = json.dumps(args, separators=(",", ":"), allow_nan=False)
    if len(text) > MAX_ARGS_BYTES:
        raise SourceTooLarge(f"`args` has {len(text):,} bytes; at most {MAX_ARGS_BYTES:,} are taken.", field="args")
    if _LONG_NUMBER.search(text):
        _refuse_inexact(args)
    return text


def _refuse_inexact(args: dict[str, Any]) -> None:
    """Refuse integers that a script would see as other ones: its numbers are doubles."""
    level: list[tuple[str, Any]] = [("args", args)]
    while level:
        for path, item in level:
            if type(item) is int and abs(item) > MAX_EXACT_INTEGER:
                raise InvalidInput(
                    f"`{path}` is an integer beyond 2^53, which a script's numbers cannot hold exactly.",
                    hint="Send it as a string; the script can read it with BigInt(…).",
                    field=path,
                )
        level = [child for path, item in level for child in _children(path, item)]


def _children(path: str, item: Any) -> Iterator[tuple[str, Any]]:
    shown = path if len(path) <= MAX_PATH_CHARS else f"{path[:MAX_PATH_CHARS]}…"
    if isinstance(item, dict):
        for name, child in item.items():
            is_plain = len(name) <= MAX_PATH_CHARS and name.isascii() and name.isidentifier()
            yield f"{shown}.{name}" if is_plain else f"{shown}[{json.dumps(name[:MAX_PATH_CHARS])}]", child
    elif isinstance(item, list):
        for place, child in enumerate(item):
            yield f"{shown}[{place}]", child


def is_too_deep(value: Any) -> bool:
    """Whether a decoded JSON value is nested beyond the bound; walks level by level, so it cannot overflow."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def storable(text: str) -> str:
    """Make NUL and lone surrogates visible: no database or UTF-8 stream takes them as they are."""
    if text.isascii() and "\0" not in text:
        return text
    return "".join(
        "\\u0000" if char == "\0" else f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text
    )


def _text(body: dict[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"`{name}` must be a string.", field=name)
    return value


def _positive_int(body: dict[str, Any], name: str) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"`{name}` must be a whole number of at least 1.", field=name)
    return value


def _short(name: object) -> str:
    return storable(str(name)[:100])
