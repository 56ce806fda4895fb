"""What is stored in English reaches readers in their language, with code as code."""

from __future__ import annotations

import pytest
from django.utils import translation

from runs.hint_words import PATTERNS, SENTENCES
from runs.stored_words import said, translated, words
from sandboxes.base import Limits
from sandboxes.quickjs import kinds
from sandboxes.quickjs.controls import controls
from sandboxes.quickjs.hints import ABSENT
from tests.runs.page.reading import Markup


@pytest.fixture
def spanish():
    with translation.override("es"):
        yield


def test_what_stands_in_backticks_is_code_and_stays_harmless():
    assert words("Send `<b>` or `x`.") == "Send <code>&lt;b&gt;</code> or <code>x</code>."
    assert words("one ` alone") == "one ` alone"


def test_every_sentence_and_pattern_has_its_spanish(spanish):
    assert [text for text in (*SENTENCES, *PATTERNS) if translation.gettext(text) == text] == []


def test_every_control_reads_spanish(spanish):
    limits = Limits(memory_bytes=64 * 2**20, timeout_ms=30_000)
    for host in ("process", "worker"):
        rows = [control.as_dict() for control in controls(limits, host=host).values()]
        assert [row[name] for row in rows for name in ("requested", "how") if translated(row[name]) is None] == []


def test_hints_of_names_and_languages_that_are_not_there_read_spanish(spanish):
    assert [hint for hint in (*ABSENT.values(), *kinds._HINTS.values()) if translated(hint) is None] == []


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("30,000 ms, waiting for tools included", "30\xa0000 ms, incluida la espera de las herramientas"),
        ("The script returned no value. End with `return …` to give a result.", "El script no devolvió ningún valor."),
        (
            "ToolError: read_file: NOT_FOUND: `a.txt` does not exist.",
            "ToolError: read_file: NOT_FOUND: `a.txt` no existe.",
        ),
        (
            "The value before `.x` is undefined: print it with console.log, or read it with `?.x`.",
            "El valor delante de `.x`",
        ),
    ],
)
def test_figures_names_and_several_sentences_are_recognised(spanish, stored, shown):
    assert str(translated(stored)).replace("\u202f", "\xa0").startswith(shown)


def test_what_has_no_translation_is_marked_as_english(spanish):
    assert words("Something new.") == '<span lang="en">Something new.</span>'
    assert said("Something new.") == "Something new."
    assert words("") == ""


def test_english_readers_get_it_as_it_was_stored():
    assert translated("anything `at` all") == "anything `at` all"


@pytest.mark.parametrize(
    "text", ["%(name)s %s 100 % {}", "`%s` was never declared.", ". " * 400, ": " * 300, "\0\ud800"]
)
def test_odd_texts_do_no_harm(spanish, text):
    words(text).encode("utf-8")


def test_a_runs_page_reads_spanish(scribe, spanish):
    rows = {name: control.as_dict() for name, control in controls(Limits(), host="process").items()}
    reason = "js_run always runs on QuickJS in WebAssembly, in a child process kept ready for it"
    error = {
        "code": "SCRIPT_ERROR",
        "name": "TypeError",
        "message": "TypeError: not a function",
        "hint": "Turn the recursion into a loop.",
    }
    scribe.starts().ends("failed", controls=rows, reason=reason, error=error)
    html = scribe.page_html()
    assert "siempre en QuickJS" in html
    assert "Convierte la recursión" in html
    assert html.count('<span lang="en">') == 1
    assert '<span lang="en">TypeError: not a function</span>' in html
    assert "waiting for tools" not in Markup(html).text
