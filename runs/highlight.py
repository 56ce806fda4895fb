"""Highlighted code, line by line: Pygments' classes, our escaping, bounded work."""

from __future__ import annotations

from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import JavascriptLexer, PythonLexer
from pygments.token import STANDARD_TYPES, _TokenType

from runs.visible import visible

MAX_HIGHLIGHTED_CHARS = 64 * 1024
"""Longer code is shown plain: a lexer's time is not bounded by much else."""

_LEXERS: dict[str, Lexer] = {"javascript": JavascriptLexer(), "python": PythonLexer()}


def language_of(tool: str) -> str:
    return "python" if tool == "python_run" else "javascript"


def lines_of(code: str) -> list[str]:
    """The lines as the engine counts them: only a line feed ends one."""
    lines = code.replace("\r\n", "\n").split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


@lru_cache(maxsize=128)
def highlighted(code: str, language: str) -> tuple[SafeString, ...]:
    """Each line of `code` as safe HTML without its line end."""
    lines = lines_of(code)
    if len(code) > MAX_HIGHLIGHTED_CHARS:
        return tuple(visible(line) for line in lines)
    parts: list[list[str]] = [[]]
    for _, kind, text in _LEXERS[language].get_tokens_unprocessed("\n".join(lines)):
        first, *rest = text.split("\n")
        parts[-1].append(_token(kind, first))
        for piece in rest:
            parts.append([_token(kind, piece)])
    return tuple(mark_safe("".join(line)) for line in parts)  # safe: every piece went through `visible`


def _token(kind: _TokenType, text: str) -> str:
    name = STANDARD_TYPES.get(kind, "")
    if not text or not name or name in ("w", "n", "p", "nx", "o"):
        return visible(text)
    return format_html('<span class="{}">{}</span>', name, visible(text))
