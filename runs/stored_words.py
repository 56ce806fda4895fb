"""Sentences that were stored in English, as a page shows them: in the reader's language, code as code."""

from __future__ import annotations

import re
from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext

from runs import labels
from runs.hint_words import PATTERNS
from runs.visible import visible

MAX_CHARS = 1_000
"""Longer texts are no sentences of ours."""
_CODE = re.compile(r"`([^`\n]{1,300})`")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
_ORIGIN = re.compile(r"[\w.]{1,100}: ")


def words(text: object) -> SafeString:
    """A stored sentence for the reader; where it has no translation it is marked as English."""
    shown = translated(str(text))
    html = with_code(str(text) if shown is None else shown)
    return html if shown is not None else format_html('<span lang="en">{}</span>', html)


def said(text: object) -> SafeString:
    """The same for what somebody else may have written: nothing is claimed about its language."""
    shown = translated(str(text))
    return with_code(str(text) if shown is None else shown)


def with_code(text: str) -> SafeString:
    """Escaped, with what stands in backticks as code."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", visible(text)))  # safe: escaped before the marks are put in


def translated(text: str) -> str | None:
    """The text in the active language; None when the catalogue has no words for it."""
    if (get_language() or "en").startswith("en"):
        return text
    if not text or len(text) > MAX_CHARS:
        return None if text else ""
    return _whole(text) or _in_sentences(text) or _after_origin(text)


def _whole(text: str) -> str | None:
    exact = gettext(text)
    if exact != text:
        return exact
    for msgid, pattern in _patterns():
        found = pattern.fullmatch(text)
        if found is not None:
            return gettext(msgid) % {name: _value(value) for name, value in found.groupdict().items()}
    return None


def _in_sentences(text: str) -> str | None:
    """Several stored sentences in a row: the longest known start, then the rest."""
    ends = [found.end() for found in re.finditer(r"[.!?…] (?=\S)", text)]
    for end in reversed(ends[:12]):
        first = _whole(text[: end - 1])
        rest = (_whole(text[end:]) or _in_sentences(text[end:])) if first is not None else None
        if rest is not None:
            return f"{first} {rest}"
    return None


def _after_origin(text: str) -> str | None:
    """What follows `ToolError: read_file: NOT_FOUND: `, which stays as it is."""
    origin = _ORIGIN.match(text)
    if origin is None:
        return None
    rest = text[origin.end() :]
    told = _whole(rest) or _in_sentences(rest) or _after_origin(rest)
    return None if told is None else f"{origin.group()}{told}"


def _value(text: str) -> str:
    return labels.count(int(text.replace(",", ""))) if _NUMBER.fullmatch(text) and len(text) < 20 else text


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(msgid, _pattern(msgid)) for msgid in PATTERNS]


def _pattern(msgid: str) -> re.Pattern[str]:
    pieces = re.split(r"%\((\w+)\)s", msgid)
    return re.compile(
        "".join(f"(?P<{piece}>.+?)" if index % 2 else re.escape(piece) for index, piece in enumerate(pieces)),
        re.DOTALL,
    )
