"""What templates need to say things: safe text, words for keys, figures with units, icons."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs import labels
from runs.stored_words import said, words
from runs.visible import plain, visible

register = template.Library()

register.filter("visible", visible)
register.filter("plain", plain)
register.filter("words", words)
register.filter("said", said)
register.filter("duration", labels.duration)
register.filter("iso_duration", labels.iso_duration)
register.filter("size", labels.size)
register.filter("count", labels.count)


@register.filter
def status_word(status: str) -> str:
    return labels.word(labels.STATUS, status)


@register.filter
def call_word(status: str) -> str:
    return labels.word(labels.CALL_STATUS, status)


@register.filter
def isolation_word(isolation: str) -> str:
    return labels.word(labels.ISOLATION, isolation)


@register.filter
def backend_word(backend: str) -> str:
    return labels.word(labels.BACKEND, backend)


@register.filter
def role_word(role: str) -> str:
    return labels.word(labels.ROLE, role)


@register.filter
def control_word(name: str) -> str:
    return labels.word(labels.CONTROL, name)


@register.filter
def language_word(language: str) -> str:
    return labels.LANGUAGE.get(language, language)


@register.filter
def code_words(code: str) -> str:
    """The sentence of a public error code; empty for one that has none."""
    return str(labels.CODE.get(code, ""))


@register.filter
def problem_words(message: str) -> SafeString:
    """A problem of a configuration file as a sentence of its own."""
    plain_words = message.removeprefix("the file is not usable: ")
    return words(plain_words[:1].upper() + plain_words[1:])


@register.filter
def limit_rows(limits: Any) -> list[tuple[str, str, str]]:
    """The effective limits as (word, value with unit, configuration key)."""
    if not isinstance(limits, dict):
        return []
    return [
        (str(word), labels.limit_value(name, limits[name]), labels.LIMIT_KEYS[name])
        for name, word in labels.LIMIT.items()
        if isinstance(limits.get(name), int)
    ]


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """A shape of the sprite; the word always stands beside it."""
    return _icon(name, css)


@lru_cache(maxsize=64)
def _icon(name: str, css: str) -> SafeString:
    turning = " turning" if name == "running" else ""
    return format_html(
        '<svg class="icon{}{}" viewBox="0 0 16 16" aria-hidden="true"><use href="#i-{}"/></svg>',
        turning,
        f" {css}" if css else "",
        name,
    )


@register.simple_tag
def moment(at: datetime | None, style: str = "time") -> SafeString | str:
    """A time that the page's script shows in the reader's own zone; without script it is UTC and says so."""
    if at is None:
        return ""
    utc = at.astimezone(UTC)
    shown = utc.strftime("%H:%M:%S" if style == "time" else "%Y-%m-%d %H:%M:%S")
    return format_html(
        '<time datetime="{}" data-local="{}">{} UTC</time>', utc.isoformat(timespec="milliseconds"), style, shown
    )
