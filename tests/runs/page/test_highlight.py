"""Code, line by line."""

from __future__ import annotations

import time

from runs.highlight import MAX_HIGHLIGHTED_CHARS, highlighted, lines_of
from tests.runs.page.reading import Markup


def test_it_marks_words_of_the_language():
    (line,) = highlighted('return await f("x"); // y', "javascript")
    assert '<span class="k">return</span>' in line
    assert 'class="c1">// y</span>' in line


def test_a_token_over_several_lines_is_closed_on_each():
    lines = highlighted("/* one\ntwo */ const a = `x\ny`;", "javascript")
    assert len(lines) == 3
    for line in lines:
        assert line.count("<span") == line.count("</span>")


def test_lines_are_those_the_engine_counts():
    assert lines_of("a\r\nb\rc\u2028d\n") == ["a", "b\rc\u2028d"]
    assert lines_of("") == [""]
    assert len(highlighted("a\n\n\nb\n", "javascript")) == 4


def test_code_cannot_become_markup():
    lines = highlighted("// </pre><script>alert(1)</script>\n`</code>\u202e`", "javascript")
    assert Markup("".join(lines)).tags == {"span"}
    assert "\u202e" not in "".join(lines)


def test_code_too_long_to_highlight_is_shown_plain_and_soon():
    started = time.monotonic()
    lines = highlighted("(" * (MAX_HIGHLIGHTED_CHARS + 1), "javascript")
    assert lines[0].startswith("((")
    assert time.monotonic() - started < 2


def test_code_made_to_confuse_a_lexer_takes_no_time():
    started = time.monotonic()
    for code in ("`${" * 9_000, "/" * 20_000, "'\\" * 15_000, "/[" * 15_000, "<" * 30_000):
        highlighted(code, "javascript")
    assert time.monotonic() - started < 10
