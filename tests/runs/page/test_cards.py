"""Cards, drawn from rows."""

from __future__ import annotations

import json

import pytest
from django.utils import translation

from runs.cards import CARD_CALLS, CARD_CODE_LINES
from tests.runs.page.reading import Markup, printed
from tests.runs.page.scribe import Scribe

HOSTILE = "\u202e<img src=x onerror=alert(1)>\x1b[31m</script>"


def test_a_card_says_title_status_engine_isolation_and_who_asked(scribe, owner):
    markup = Markup(scribe.starts().html())
    for words in ("Read a file", "Running", "QuickJS, isolated", "js_run", "started by you"):
        assert words in markup.text
    assert "running" in [element.get("data-status") for element in markup.all("span")]


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("succeeded", "Succeeded"),
        ("failed", "Failed"),
        ("timed_out", "Timed out"),
        ("cancelled", "Cancelled"),
        ("interrupted", "Interrupted"),
        ("denied", "Denied"),
    ],
)
def test_every_end_has_its_word_and_shape(scribe, status, word):
    html = scribe.starts().ends(status, error={"code": "INTERNAL", "message": "m"}).html()
    assert Markup(html).by_id[f"run-{scribe.run.id}-status"].strip() == word
    assert f'href="#i-{status}"' in html


def test_a_queued_card_says_its_place_who_is_ahead_and_how_to_leave(scribe, session):
    second = Scribe(session, title="Second")
    markup = Markup(second.html())
    assert "Number 2 in line. Ahead of it: Read a file in this session." in markup.text
    assert "Waiting does not use up its time limit" in markup.text
    assert "Next in line." in Markup(scribe.html()).text


def test_progress_is_a_whole_number_in_every_language(scribe):
    scribe.starts().reports("half", 0.5, 1)
    with translation.override("es"):
        markup = Markup(scribe.html())
    assert markup.all("progress")[0]["value"] == "500"
    assert "0,50 de 1" in markup.text


@pytest.mark.parametrize("total", [0, -1, 1e300, None, "x", True])
def test_a_useless_total_gives_no_bar(scribe, total):
    scribe.starts()._write(progress={"note": "n", "completed": 1, "total": total})
    assert "progress" not in Markup(scribe.html()).tags


def test_a_call_says_its_status_tool_arguments_duration_and_bytes(scribe):
    scribe.starts().calls("read_file", path="src/a.py", limit=5).settles(1)
    markup = Markup(scribe.html())
    assert "Done: read_filesrc/a.py, 5" in markup.text
    assert "5.0 ms" in markup.text
    assert "2.0 KiB" in markup.text
    assert "1 done" in markup.text


def test_a_refused_call_says_its_code_and_the_way_out(scribe):
    error = {"code": "APPROVAL_REQUIRED", "message": "It asks.", "hint": "Have it added to permissions.allow."}
    scribe.starts().calls("crm.owner_of", name="sam").settles(1, "refused", error=error)
    text = Markup(scribe.html()).text
    assert "Refused: crm.owner_of" in text
    assert "APPROVAL_REQUIRED It asks. Have it added to permissions.allow." in text


def test_an_error_shows_line_caret_hint_and_causes(scribe):
    error = {
        "code": "SCRIPT_ERROR",
        "name": "TypeError",
        "message": "cannot read property 'x' of undefined",
        "line": 3,
        "column": 3,
        "hint": "Print it.",
        "cause": {"name": "RangeError", "message": "inner", "cause": {"message": "innermost"}},
    }
    scribe.starts().ends("failed", error=error)
    markup = Markup(scribe.html())
    text = markup.text
    assert "TypeError: cannot read property 'x' of undefined" in text
    assert "line 3, column 3" in text
    assert "What to do Print it." in text
    assert "Caused by: RangeError: inner" in text
    assert "Caused by: innermost" in text
    assert '<span class="line pointer" data-n="" aria-hidden="true">  <b class="caret">^</b>\n' in scribe.html()


@pytest.mark.parametrize("error", [{"code": "X", "message": "m", "line": 10**9}, {"message": 3, "line": "2"}, {}, []])
def test_an_odd_error_still_gives_a_card(scribe, error):
    assert "Failed" in Markup(scribe.starts().ends("failed", error=error).html()).text


def test_a_stopped_run_says_who_stopped_it_and_when_that_was_confirmed(scribe):
    scribe.starts().is_asked_to_stop().ends("cancelled", error={"code": "CANCELLED", "message": "", "by": "owner"})
    text = Markup(scribe.html()).text
    assert "Stopped by owner. The end was confirmed" in text


def test_a_time_out_names_the_limit_and_its_key(scribe):
    scribe.starts().ends("timed_out", error={"code": "TIMEOUT", "message": "too long"})
    assert "Stopped at its time limit of 30.0 s (forge.javascript.timeoutMs)." in Markup(scribe.html()).text


def test_output_keeps_the_order_of_both_streams(scribe):
    scribe.starts().prints("one\n").prints("two\n", "stderr").prints("three\n").ends(stdout_head="one\nthree\n")
    html = scribe.html()
    assert printed(html) == "one\ntwo\nthree\n"
    assert len(Markup(html).all("samp", data_stream="stderr", data_label="stderr")) == 1


def test_many_small_pieces_of_output_are_all_there_when_the_run_has_ended(scribe):
    scribe.starts()
    for number in range(120):
        scribe.prints(f"{number}\n", "stderr" if number % 2 else "stdout")
    scribe.ends()
    assert printed(scribe.html()) == "".join(f"{number}\n" for number in range(120))


def test_long_output_shows_both_ends_and_names_the_rest(scribe):
    scribe.starts().ends(stdout_chars=2_000_000, stdout_head="a" * 24_000, stdout_tail="b" * 24_000)
    html = scribe.html()
    text = printed(html)
    assert text.startswith("aaa")
    assert text.endswith("bbb")
    assert len(text) < 13_000
    assert f"/api/runs/{scribe.run.id}/output?stream=stdout" in html
    assert f"{2_000_000 - len(text):,} characters in between are stored and not shown." in Markup(html).text


def test_the_value_is_a_tree(scribe):
    scribe.starts().ends(value_json='{"n": 1}', lossy=[{"path": "$.n", "kind": "NaN"}])
    markup = Markup(scribe.html())
    assert "n 1" in markup.text
    assert "Not everything could be kept as JSON: $.n (NaN)" in markup.text


def test_a_large_value_is_left_to_the_runs_own_page(scribe):
    scribe.starts().ends(value_json=json.dumps("x" * 200_000))
    assert "A large value: see it on the run's page." in Markup(scribe.html()).text
    assert "xxxx" in scribe.page_html()


def test_hostile_text_is_shown_and_never_becomes_markup(session):
    scribe = Scribe(session, title=HOSTILE, code=f"// {HOSTILE}\nreturn 1")
    scribe.starts().prints(HOSTILE).prints(HOSTILE, "stderr").reports(HOSTILE, 1, 2).calls(HOSTILE, x=HOSTILE)
    error = {"code": HOSTILE, "message": HOSTILE, "hint": HOSTILE, "cause": HOSTILE, "stack": HOSTILE, "line": 1}
    scribe.settles(1, "failed", error=error)
    for html in (scribe.html(), scribe.page_html()):
        _assert_harmless(html)
    value = json.dumps({HOSTILE: HOSTILE})
    scribe.ends("failed", error=error, value_json=value, lossy=[{"path": HOSTILE, "kind": HOSTILE}])
    for html in (scribe.html(), scribe.page_html()):
        _assert_harmless(html)


def _assert_harmless(html):
    html.encode("utf-8")
    markup = Markup(html)
    assert not markup.tags & {"img", "script"}
    assert not [name for _tag, attributes in markup.elements for name in attributes if name.startswith("on")]
    assert not [1 for _tag, attributes in markup.elements if "style" in attributes]
    assert "\u202e" not in html
    assert "\x1b" not in html


def test_a_card_is_bounded_whatever_the_run_did(session):
    scribe = Scribe(session, code="const x = [1, 2, 3];\n" * 20_000).starts()
    for _ in range(150):
        scribe.calls("read_file", path="a")
    scribe.prints("x" * 15_000 + "\n" * 15_000)
    scribe.ends("failed", value_json=json.dumps([[1] * 50] * 200), error={"message": "m" * 100_000})
    markup = Markup(scribe.html())
    assert len(markup.all("li", **{"class": "call"})) == CARD_CALLS
    assert len(markup.all("span", **{"class": "line"})) == CARD_CODE_LINES
    assert "90 earlier calls are not shown here." in markup.text
    assert len(markup.elements) < 4_000


def test_ids_are_unique_and_the_runs_own_page_has_short_anchors(scribe):
    scribe.starts().calls("read_file", path="a").settles(1).prints("x\n").ends(value_json="1", stdout_head="x\n")
    card, page = Markup(scribe.html()), Markup(scribe.page_html())
    assert len(card.ids) == len(set(card.ids))
    assert len(page.ids) == len(set(page.ids))
    assert {"call-1", "L1", "code", "calls", "output", "value"} <= set(page.ids)
    assert f"run-{scribe.run.id}-call-1" in card.ids


def test_the_runs_own_page_says_limits_controls_and_reason(scribe):
    controls = {"network": {"requested": "none", "applied": True, "how": "no sockets"}, "cpu": {"applied": False}}
    scribe.starts().ends(controls=controls, reason="js_run always runs on QuickJS.", metrics={"peakMemoryBytes": 2**21})
    text = Markup(scribe.page_html()).text
    assert "Network none applied no sockets" in text
    assert "not applied" in text
    assert "Time 30.0 s forge.javascript.timeoutMs" in text
    assert "js_run always runs on QuickJS." in text


def test_a_figure_that_was_not_measured_is_absent(scribe):
    scribe.starts().ends(metrics={"durationMs": 12.0, "peakMemoryBytes": 2_211_840})
    assert scribe.card().figures == [("Duration", "12 ms"), ("Peak memory", "2.1 MiB")]


def test_only_the_owner_is_offered_to_stop(scribe, django_user_model):
    analyst = django_user_model.objects.create(username="a", role="analyst", password="!")
    assert "data-stop" in scribe.html()
    assert "data-stop" not in scribe.html(user=analyst)


def test_a_run_that_was_asked_to_stop_says_so_and_offers_it_no_more(scribe):
    html = scribe.starts().is_asked_to_stop().html()
    assert "waiting for the engine to confirm" in html
    assert "data-stop" not in html


def test_a_card_speaks_spanish(scribe):
    scribe.starts().calls("read_file", path="a").settles(1).ends(value_json="1")
    with translation.override("es"):
        text = Markup(scribe.html()).text
    for words in ("Completada", "aislada", "iniciada por ti", "361 ms", "Llamadas", "1 hecha", "Valor", "2,0 KiB"):
        assert words in text


def test_a_failed_call_is_counted_apart_and_its_message_is_not_told_three_times(scribe):
    error = {"code": "NOT_FOUND", "message": "`a` does not exist.", "hint": "list_files shows what there is."}
    scribe.starts().calls("read_file", path="b").settles(1).calls("read_file", path="a").settles(
        2, "failed", error=error
    )
    assert "1 done, 1 failed" in Markup(scribe.html()).text
    message = "ToolError: read_file: NOT_FOUND: `a` does not exist."
    scribe.ends("failed", error={"code": "SCRIPT_ERROR", "message": message, "cause": error, "hint": error["hint"]})
    text = Markup(scribe.html()).text
    assert "1 done, 1 failed" in text
    assert text.count("does not exist") == 1
    assert text.count("list_files shows") == 1


def test_a_message_that_is_its_own_hint_is_said_once(scribe):
    scribe.starts().ends("failed", error={"code": "X", "message": "Do less.", "hint": "Do less."})
    assert Markup(scribe.html()).text.count("Do less.") == 1


def test_the_whole_output_is_offered_only_where_something_is_left_out(session):
    short = Scribe(session).starts().prints("x\n").ends(stdout_head="x\n")
    assert "Whole stdout" not in short.html()
    long = Scribe(session).starts().ends(stdout_chars=90_000, stdout_head="a" * 24_000, stdout_tail="b" * 24_000)
    assert "Whole stdout" in long.html()
    assert "Whole stderr" not in long.html()


def test_unseen_characters_look_the_same_in_value_and_output(session):
    scribe = Scribe(session).starts().prints("\\u0000 \x1b \\ud83d").ends(value_json=json.dumps("\0 \x1b \ud83d"))
    text = Markup(scribe.html()).text
    assert text.count("\\u0000 ESC \\ud83d") == 2
    assert '"\\\\u001b"' in Markup(Scribe(session).starts().ends(value_json=json.dumps("\\u001b")).html()).text


def test_what_a_narrow_table_has_no_column_for_stands_under_its_row(scribe):
    scribe.starts().ends(controls={"network": {"requested": "none", "applied": True, "how": "no sockets"}})
    under = Markup(scribe.page_html()).all("tr", **{"class": "under"})
    assert len(under) == 1 + len(scribe.run.limits)
