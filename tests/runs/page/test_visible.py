"""Hostile text is shown, every character of it."""

from __future__ import annotations

import pytest
from django.utils.safestring import mark_safe

from runs.visible import plain, visible


@pytest.mark.parametrize(
    ("char", "name"),
    [
        ("\0", "\\u0000"),
        ("\x01", "SOH"),
        ("\x1b", "ESC"),
        ("\r", "CR"),
        ("\x7f", "DEL"),
        ("\x9b", "U+009B"),
        ("\u202e", "U+202E"),
        ("\u2066", "U+2066"),
        ("\u2028", "U+2028"),
        ("\u200b", "U+200B"),
        ("\ufeff", "U+FEFF"),
        ("\ud83d", "\\ud83d"),
        ("\U000e0041", "U+E0041"),
    ],
)
def test_it_names_what_would_not_be_seen(char, name):
    html = visible(f"a{char}b")
    assert char not in html
    assert f">{name}</span>" in html
    assert plain(f"a{char}b") == f"a{name}b"


def test_it_escapes_markup():
    assert visible("<img src=x onerror='alert(1)'>&") == "&lt;img src=x onerror=&#x27;alert(1)&#x27;&gt;&amp;"


def test_it_leaves_text_newlines_and_joined_emoji_alone():
    text = "línea uno\n\tdos 👩\u200d💻 Ω"
    assert visible(text) == text


def test_it_keeps_markup_that_is_already_safe_and_still_shows_what_hides_in_it():
    assert visible(mark_safe("<b>\u202e</b>")).startswith('<b><span class="hidden-char"')


def test_the_result_can_always_be_sent_as_utf8():
    visible("".join(map(chr, range(0xD7F0, 0xE010)))).encode("utf-8")
