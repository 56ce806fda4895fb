"""Why a script failed, as a card shows it: the failing line with its neighbours, the chain of causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from runs.highlight import highlighted, lines_of

LINES_BEFORE = 2
MAX_LINE_CHARS = 2_000
MAX_CAUSES = 5
MAX_CAUSE_CHARS = 500


@dataclass(frozen=True, kw_only=True)
class Line:
    number: int
    html: SafeString
    is_at: bool = False


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a script failed: a few lines around it, and blanks that put a caret under the column."""

    line: int
    column: int | None
    lines: list[Line]
    blanks: str


def place_of(error: dict[str, Any] | None, *, code: str, language: str) -> Place | None:
    """The failing line among its neighbours; None when it is not in `code`, or too long to show."""
    line, column = positive(error, "line"), positive(error, "column")
    source = lines_of(code)
    if line is None or line > len(source) or len(source[line - 1]) > MAX_LINE_CHARS:
        return None
    shown = highlighted(code, language)
    first = max(1, line - LINES_BEFORE)
    before = source[line - 1][: (column or 1) - 1]
    return Place(
        line=line,
        column=column,
        lines=[Line(number=n, html=shown[n - 1], is_at=n == line) for n in range(first, line + 1)],
        blanks="".join("\t" if char == "\t" else " " for char in before),
    )


def causes_of(error: dict[str, Any] | None) -> list[str]:
    """The chain of causes as sentences, at most five."""
    found: list[str] = []
    cause: Any = (error or {}).get("cause")
    while cause and len(found) < MAX_CAUSES:
        if isinstance(cause, list):
            return [*found, *(sentence_of(item) for item in cause[: MAX_CAUSES - len(found)])]
        found.append(sentence_of(cause))
        cause = cause.get("cause") if isinstance(cause, dict) else None
    return found


def sentence_of(cause: Any) -> str:
    if not isinstance(cause, dict):
        return str(cause)[:MAX_CAUSE_CHARS]
    name, message = str(cause.get("name") or ""), str(cause.get("message") or "")
    return (f"{name}: {message}" if name and message and not message.startswith(name) else message or name)[
        :MAX_CAUSE_CHARS
    ]


def positive(error: dict[str, Any] | None, name: str) -> int | None:
    value = (error or {}).get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
