"""The submitted text on its way to the engine: checked, unwrapped, with every line where it was."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandboxes.base import MAX_CODE_BYTES
from sandboxes.errors import InvalidInput, SourceTooLarge
from sandboxes.quickjs.kinds import FENCE_KINDS, refusal_hint

MAX_SHOWN_LINE_CHARS = 300

_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n`]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EXPORT_DEFAULT = re.compile(r"\s*export\s+default\b(?=\s*(?:async\b|function\b|\(|[\w$]+\s*=>))")
_GENERATOR = re.compile(r"\s*(?:export\s+default\s+)?(?:async\s+)?function\s*\*\s*[\w$]*\s*\([^{}]*\{")
_HASHBANG = re.compile(r"\s*#![^\n]*")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A script as it was sent (`submitted`) and as the engine gets it (`code`).

    Engine line n is submitted line n + `line_offset`. The offset is 0 today: what is removed leaves blanks behind.
    """

    submitted: str
    code: str
    line_offset: int = 0

    def line(self, number: int) -> str | None:
        """Give submitted line `number` (from 1), cut to what a person wants to see; None when there is no such line."""
        if number < 1 or len(lines := self.submitted.split("\n", number)) < number:
            return None
        text = lines[number - 1].rstrip("\r")
        return text if len(text) <= MAX_SHOWN_LINE_CHARS else text[:MAX_SHOWN_LINE_CHARS] + "…"

    def last_line(self) -> int:
        """Give the number of the last line that holds anything."""
        return len(self.code.rstrip().split("\n"))


def prepare(code: str) -> Source:
    """Check a script and unwrap it; raise InvalidInput or SourceTooLarge with the position or the limit."""
    if not isinstance(code, str):
        raise InvalidInput(f"The code must be text, not {type(code).__name__}.", field="code")
    _check_text(code)
    inner = _without_fence(code)
    if not inner.strip():
        raise InvalidInput(
            "The code is blank.",
            field="code",
            hint="Send a script: the body of an async function that ends with `return`.",
        )
    _refuse_generator(inner)
    return Source(submitted=code, code=_without_wrapping(inner))


def _check_text(code: str) -> None:
    """Refuse what cannot be a source text at all, before anything looks at its meaning."""
    if len(code) > MAX_CODE_BYTES:
        raise _too_large(len(code))
    if (lone := _LONE_SURROGATE.search(code)) is not None:
        raise _bad_character(code, lone.start(), f"a lone surrogate (U+{ord(lone.group()):04X})")
    if (nul := code.find("\0")) >= 0:
        raise _bad_character(code, nul, "a NUL character")
    if (size := len(code.encode())) > MAX_CODE_BYTES:
        raise _too_large(size)


def _too_large(size: int) -> SourceTooLarge:
    return SourceTooLarge(
        f"The code has {size:,} bytes; at most {MAX_CODE_BYTES:,} are taken.", field="code", limit=MAX_CODE_BYTES
    )


def _bad_character(code: str, at: int, what: str) -> InvalidInput:
    line = code.count("\n", 0, at) + 1
    column = at - code.rfind("\n", 0, at)
    return InvalidInput(
        f"The code holds {what} at line {line}, column {column}.",
        field="code",
        hint="Remove it, or write it as an escape inside a string.",
        line=line,
        column=column,
    )


def _without_fence(code: str) -> str:
    """Blank one Markdown fence around the whole; its lines stay as empty lines."""
    lines = code.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), None)
    if first is None or (opening := _FENCE.fullmatch(lines[first].rstrip())) is None:
        return code
    last = next(n for n in range(len(lines) - 1, -1, -1) if lines[n].strip())
    closing = lines[last].strip()
    if last > first and closing == opening.group(1)[0] * len(closing) and len(closing) >= len(opening.group(1)):
        lines[last] = ""
    if any(line.strip().startswith(opening.group(1)) for line in lines[first + 1 :]):
        return code
    _refuse_other_language(opening.group(2).lower())
    lines[first] = ""
    return "\n".join(lines)


def _refuse_other_language(label: str) -> None:
    if (kind := FENCE_KINDS.get(label)) is not None:
        raise InvalidInput(
            f"The code block is marked as {label}, not JavaScript.", field="code", hint=refusal_hint(kind)
        )


def _refuse_generator(code: str) -> None:
    """A generator around everything would be made and never run."""
    if _GENERATOR.match(code) is None or "return" in code.rsplit("}", 1)[-1]:
        return
    if not code.rstrip(" \t\r\n;)").endswith("}"):
        return
    if _is_one_block(code):
        raise InvalidInput(
            "The code is one generator function, which nothing would run.",
            field="code",
            hint="Write the body of an async function: plain statements, `await` where needed, and `return`.",
        )


def _is_one_block(code: str) -> bool:
    """Does the first brace close only at the very end? Strings are not read: good enough to refuse a generator."""
    depth = 0
    body = code[code.index("{") :].rstrip(" \t\r\n;)")
    for at, character in enumerate(body):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return at == len(body) - 1
    return False


def _without_wrapping(code: str) -> str:
    """Blank `#!…` and `export default`; the engine itself calls a whole that is one function (guests/js/compile.js)."""
    for pattern in (_HASHBANG, _EXPORT_DEFAULT):
        if (found := pattern.match(code)) is not None:
            code = _blank(found.group()) + code[found.end() :]
    return code


def _blank(text: str) -> str:
    return "".join(character if character in "\r\n" else " " for character in text)
