"""A value as a folding tree: exact, bounded, harmless."""

from __future__ import annotations

import json

import pytest

from runs.json_tree import parse, tree
from tests.runs.page.reading import Markup


def shown(text, lossy=(), max_nodes=200):
    return tree(parse(text), lossy=list(lossy), max_nodes=max_nodes)


def test_it_shows_scalars_by_kind():
    html = shown('{"a": "x", "b": 1.50, "c": true, "d": null}')
    assert '<span class="text">&quot;x&quot;</span>' in html
    assert '<span class="number">1.50</span>' in html
    assert '<span class="word">true</span>' in html
    assert '<span class="word">null</span>' in html


def test_it_keeps_every_digit_of_a_number():
    digits = "9" * 6_000
    assert digits[:900] in shown(f'{{"n": {digits}}}')
    assert "12345678901234567890.10" in shown("[12345678901234567890.10]")


def test_it_folds_objects_and_says_how_large_they_are():
    markup = Markup(shown('{"owners": {"ana": [1, 2]}, "list": []}'))
    assert "object, 1 key" in markup.text
    assert "2 items" in markup.text
    assert len(markup.all("details")) == 2


def test_it_marks_what_was_lost():
    markup = Markup(shown('{"f": null, "list": [null]}', lossy=[{"path": "$.f", "kind": "function"}]))
    assert len(markup.all("span", **{"class": "lossy"})) == 1
    assert "was function" in markup.text


def test_it_draws_no_more_nodes_than_allowed_and_says_how_many_are_left():
    markup = Markup(shown(json.dumps(list(range(10_000))), max_nodes=50))
    assert len(markup.all("li")) == 51
    assert "9,950 more, not shown" in markup.text


def test_it_survives_the_deepest_value_that_is_stored():
    html = shown("[" * 500 + "]" * 500)
    assert html.count("<details") < 60


def test_it_cuts_a_long_text_and_says_so():
    assert "and 4,000 more characters" in shown(json.dumps("x" * 5_000))


@pytest.mark.parametrize("text", ['"</textarea><svg onload=alert(1)>"', '{"<b>": "<i>"}', '"\\ud83d \\u202e"'])
def test_nothing_in_a_value_becomes_markup(text):
    html = shown(text)
    html.encode("utf-8")
    assert Markup(html).tags <= {"ul", "li", "span", "details", "summary"}
    assert "\u202e" not in html
