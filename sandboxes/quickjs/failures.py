"""What went wrong in a script, as one error: a sentence, a place, the causes, a hint."""

from __future__ import annotations

import re
from typing import Any

from sandboxes.base import MIB, Limits
from sandboxes.errors import (
    CompileError,
    ForjaError,
    MemoryLimit,
    ResultNotSerializable,
    ResultTooLarge,
    ScriptError,
    ScriptSyntaxError,
    StackLimit,
    StateNotSerializable,
    UnawaitedCall,
    UnhandledRejection,
)
from sandboxes.quickjs.hints import is_absent_name, runtime_hint, syntax_hint
from sandboxes.quickjs.kinds import guess_kind, refusal_hint
from sandboxes.quickjs.source import Source

MAX_MESSAGE_CHARS = 4000
MAX_STACK_CHARS = 4000
MAX_DEPTH = 5
MAX_INNER = 10
_UNSEEN = re.compile("[\0\ud800-\udfff]")


def failure_of(
    told: dict[str, Any], *, cls: type[ForjaError], source: Source, limits: Limits, untouched: bool
) -> ForjaError:
    """Build the run's error from the guest's description; `untouched`: no nested call had been made."""
    if cls is ScriptSyntaxError:
        told = _within_the_code(told, source=source)
    if cls is CompileError:
        return too_deep_to_compile()
    place = _place(told, source=source)
    details = place | _tool_details(told)
    message = sentence(told)
    if cls in (ScriptSyntaxError, ScriptError):
        return _script_failure(told, cls=cls, message=message, details=details, source=source, untouched=untouched)
    if cls in (ResultNotSerializable, ResultTooLarge, StateNotSerializable):
        return cls(
            _refusal_message(told, cls=cls),
            hint=_refusal_hint(told),
            path=visible_text(told.get("path"), 400),
            kind=visible_text(told.get("name"), 40),
        )
    if cls is UnhandledRejection:
        return cls(f"{message} (nobody awaited it)", hint=_unawaited_hint(told), **details)
    if cls is UnawaitedCall:
        return cls(
            visible_text(told.get("message"), MAX_MESSAGE_CHARS) or "A call was still in flight.",
            hint=_unawaited_hint(told),
            **details,
        )
    if cls is StackLimit:
        return cls(message, limit=limits.stack_bytes, **details)
    if cls is MemoryLimit:
        return cls(
            f"The script ran out of memory: its heap may hold {limits.memory_bytes // MIB} MiB.",
            limit=limits.memory_bytes,
            **details,
        )
    return cls(message, hint=visible_text(told.get("hint"), 400) or None, **details)


def too_deep_to_compile() -> CompileError:
    """The error of code whose nesting alone uses up the engine's stack, before any of it has run."""
    return CompileError(
        "The code is nested too deeply to be compiled.",
        hint="Look for a bracket repeated by mistake; split long nested expressions, and pass large data in `args`.",
    )


def sentence(told: dict[str, Any]) -> str:
    """Give `Name: message`; for a nested call `tool: CODE: message`; for what is no error just its text."""
    name, message = visible_text(told.get("name"), 100), visible_text(told.get("message"), MAX_MESSAGE_CHARS)
    if (tool := visible_text(told.get("tool"), 200)) and "toolCode" in told:
        code = visible_text(told.get("toolCode"), 60)
        return f"{tool}: {code}: {message.removeprefix(f'{tool}: ')}"
    if not _is_error_name(name):
        return message or name or "undefined"
    inner = told.get("errors")
    if isinstance(inner, list) and inner:
        told_inner = "; ".join(sentence(one) for one in inner[:MAX_INNER] if isinstance(one, dict))
        return f"{name}: {message or 'every promise was rejected'} ({len(inner)} inner errors: {told_inner})"[
            :MAX_MESSAGE_CHARS
        ]
    return f"{name}: {message}" if message else name


def _script_failure(
    told: dict[str, Any],
    *,
    cls: type[ForjaError],
    message: str,
    details: dict[str, Any],
    source: Source,
    untouched: bool,
) -> ForjaError:
    line = details.get("source")
    if (foreign := _foreign_hint(told, cls=cls, source=source, line=line, untouched=untouched)) is not None:
        return ScriptSyntaxError(message, hint=foreign, **details)
    if cls is ScriptSyntaxError:
        return cls(message, hint=syntax_hint(message=message, line=line), **details)
    hint = visible_text(told.get("hint"), 400) or runtime_hint(
        name=str(told.get("name")), message=str(told.get("message")), line=line, column=details.get("column")
    )
    return cls(message, hint=hint, **details)


def _within_the_code(told: dict[str, Any], *, source: Source) -> dict[str, Any]:
    """An error beyond the last line is about the bracket the engine's own wrapper adds there: say what that means."""
    line, last = told.get("line"), source.last_line()
    if type(line) is not int or line <= last:
        return told
    column = len(source.line(last) or "") + 1
    message = "unexpected end of the code"
    return told | {"line": last, "column": column, "message": message, "stack": f"    at script.js:{last}:{column}"}


def _foreign_hint(
    told: dict[str, Any], *, cls: type[ForjaError], source: Source, line: str | None, untouched: bool
) -> str | None:
    """Is it not JavaScript at all? Also when it parses and fails on the first name it uses (`ls -la`)."""
    if cls is ScriptError and not (
        told.get("name") == "ReferenceError" and untouched and _is_first_line(told, source=source)
    ):
        return None
    kind = guess_kind(source.code, line=line)
    if kind == "prose" and is_absent_name(str(told.get("message"))):
        return None
    if kind in ("prose", "json") and cls is ScriptSyntaxError and not _is_first_line(told, source=source):
        return None
    return None if kind is None else refusal_hint(kind)


def _is_first_line(told: dict[str, Any], *, source: Source) -> bool:
    lines = source.code.split("\n")
    first = next((n for n, text in enumerate(lines, 1) if text.strip()), 1)
    line = told.get("line")
    return type(line) is int and line <= first + 1


def _place(told: dict[str, Any], *, source: Source) -> dict[str, Any]:
    details: dict[str, Any] = {
        "name": visible_text(told.get("name"), 100) or None,
        "stack": visible_text(told.get("stack"), MAX_STACK_CHARS) or None,
    }
    line, column = told.get("line"), told.get("column")
    if type(line) is int and 1 <= line <= 10_000_000:
        details["line"] = line + source.line_offset
        details["source"] = source.line(line + source.line_offset)
        if type(column) is int and 1 <= column <= 10_000_000:
            details["column"] = column
    if (cause := _described(told.get("cause"), depth=0)) is not None:
        details["cause"] = cause
    inner = told.get("errors")
    if isinstance(inner, list):
        details["errors"] = [one for item in inner[:MAX_INNER] if (one := _described(item, depth=1)) is not None]
    return details


def _tool_details(told: dict[str, Any]) -> dict[str, Any]:
    """A nested call's failure: `tool`, and the call's own code and message as the cause."""
    if not (tool := visible_text(told.get("tool"), 200)):
        return {}
    if "toolCode" not in told:
        return {"tool": tool}
    cause = {
        "tool": tool,
        "code": visible_text(told.get("toolCode"), 60),
        "message": visible_text(told.get("message"), MAX_MESSAGE_CHARS),
    }
    return {"tool": tool, "cause": cause}


def _described(told: Any, *, depth: int) -> dict[str, Any] | None:
    if not isinstance(told, dict) or depth > MAX_DEPTH:
        return None
    kept: dict[str, Any] = {
        "name": visible_text(told.get("name"), 100),
        "message": visible_text(told.get("message"), MAX_MESSAGE_CHARS),
    }
    for key in ("tool", "stack"):
        if text := visible_text(told.get(key), MAX_STACK_CHARS):
            kept[key] = text
    if code := visible_text(told.get("toolCode"), 60):
        kept["code"] = code
    for key in ("line", "column"):
        if type(told.get(key)) is int:
            kept[key] = told[key]
    if (cause := _described(told.get("cause"), depth=depth + 1)) is not None:
        kept["cause"] = cause
    return kept


def _refusal_message(told: dict[str, Any], *, cls: type[ForjaError]) -> str:
    what = "`state` cannot be kept" if cls is StateNotSerializable else "The value cannot be returned"
    return f"{what}: {visible_text(told.get('message'), MAX_MESSAGE_CHARS)}."


def _refusal_hint(told: dict[str, Any]) -> str | None:
    hint = visible_text(told.get("hint"), 400)
    return f"{hint[0].upper()}{hint[1:]}." if hint else None


def _unawaited_hint(told: dict[str, Any]) -> str | None:
    tool = visible_text(told.get("tool"), 200)
    return f"Await it: `await tools.call('{tool}', …)`, or catch its failure." if tool else None


def _is_error_name(name: str) -> bool:
    return name not in (
        "string",
        "number",
        "boolean",
        "bigint",
        "symbol",
        "undefined",
        "null",
        "object",
        "array",
        "function",
        "",
    )


def visible_text(value: Any, most: int) -> str:
    """A string of the guest's, bounded, with NUL and lone surrogates made visible; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", value[:most])
