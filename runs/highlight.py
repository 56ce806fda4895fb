"""Highlighted code, line by line: Pygments' classes, our escaping, bounded work."""

from __future__ import annotations

import time
from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import JavascriptLexer, PythonLexer
from pygments.token import STANDARD_TYPES, _TokenType

from runs.visible import visible

MAX_HIGHLIGHTED_CHARS = 64 * 1024
MAX_SECONDS = 0.25
"""Code that is longer, or that a lexer goes over again and again, is shown plain."""

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
    if len(code) <= MAX_HIGHLIGHTED_CHARS:
        try:
            return tuple(mark_safe("".join(line)) for line in _marked("\n".join(lines), language))
        except _TooSlow:
            pass
    return tuple(visible(line) for line in lines)


class _TooSlow(Exception):
    """The lexer took longer than anybody would wait for colours."""


def _marked(code: str, language: str) -> list[list[str]]:
    """The pieces of each line, every one of them escaped."""
    parts: list[list[str]] = [[]]
    deadline = time.monotonic() + MAX_SECONDS
    for _, kind, text in _LEXERS[language].get_tokens_unprocessed(code):
        if time.monotonic() > deadline:
            raise _TooSlow
        first, *rest = text.split("\n")
        parts[-1].append(_token(kind, first))
        parts += [[_token(kind, piece)] for piece in rest]
    return parts


def _token(kind: _TokenType, text: str) -> str:
    name = STANDARD_TYPES.get(kind, "")
    if not text or not name or name in ("w", "n", "p", "nx", "o"):
        return visible(text)
    return format_html('<span class="{}">{}</span>', name, visible(text))
