"""The pages, with no script at all: plain links, forms and redirects."""

from __future__ import annotations

import json
import re

import pytest

from runs.models import Run, Session
from runs.sessions import create_session
from runs.views.sessions import CARDS
from tests.runs.factories import queued_run
from tests.runs.page.reading import Markup
from tests.runs.page.scribe import Scribe


def read(browser, path, status=200):
    answer = browser.get(path)
    assert answer.status_code == status, answer.content
    return Markup(answer.content.decode())


# ── Sessions ────────────────────────────────────────────────────────────────────────────────────


def test_a_new_session_is_opened_by_a_form(browser, owner):
    answer = browser.post("/", {"title": "Sales <b>", "workspace": "default"})
    session = Session.objects.get()
    assert answer["Location"] == f"/sessions/{session.pk}/"
    assert (session.title, session.owner) == ("Sales <b>", owner)
    assert "Sales <b>" in read(browser, "/").text


def test_an_unknown_workspace_is_refused_beside_its_field(browser):
    answer = browser.post("/", {"title": "kept", "workspace": "defualt"})
    markup = Markup(answer.content.decode())
    assert answer.status_code == 400
    assert "Did you mean default?" in markup.by_id["session-workspace-error"]
    assert markup.all("input", id="session-title")[0]["value"] == "kept"


def test_the_list_says_what_is_active_and_how_the_last_run_ended(browser, session, owner):
    queued_run(session)
    other = create_session(user=owner, title="Quiet")
    Scribe(other).starts().ends("timed_out")
    text = read(browser, "/").text
    assert "Test 1 queued 1 run" in text
    assert "Quiet Timed out," in text
    assert "2 sessions" in text


def test_older_sessions_are_behind_a_link(browser, owner, monkeypatch):
    monkeypatch.setattr("runs.views.sessions.SESSIONS", 2)
    for number in range(3):
        create_session(user=owner, title=f"number {number}")
    first = browser.get("/").content.decode()
    (older,) = re.findall(r'href="(\?before=\w+)"', first)
    rest = browser.get(f"/{older}").content.decode()
    titles = [re.findall(r"number \d", page) for page in (first, rest)]
    assert [len(found) for found in titles] == [2, 1]
    assert sorted(titles[0] + titles[1]) == ["number 0", "number 1", "number 2"]


# ── A session ───────────────────────────────────────────────────────────────────────────────────


def test_a_script_is_sent_by_a_form_and_its_card_is_there(browser, session, owner):
    answer = browser.post(
        f"/sessions/{session.pk}/runs/",
        {"title": "One", "code": "return 1;\r\nreturn 2", "seconds": "2.5", "calls": "7", "args": '{"q": "é"}'},
    )
    run = Run.objects.get()
    assert answer["Location"] == f"/sessions/{session.pk}/?from={run.id}#run-{run.id}"
    assert (run.code, run.door, run.requested_by, run.title) == ("return 1;\nreturn 2", "page", owner, "One")
    assert (run.limits["timeoutMs"], run.limits["maxToolCalls"]) == (2_500, 7)
    assert json.loads(run.args_json) == {"q": "é"}
    page = read(browser, answer["Location"].split("#")[0])
    assert f"run-{run.id}" in page.ids
    assert page.by_id["run-code"].strip() == "return 1;\nreturn 2"


@pytest.mark.parametrize(
    ("field", "value", "where"),
    [
        ("code", "", "run-code-error"),
        ("code", "```sh\nls -la\n```", "run-code-error"),
        ("seconds", "soon", "limit-time-error"),
        ("seconds", "31", "limit-time-error"),
        ("seconds", "0", "limit-time-error"),
        ("seconds", "nan", "limit-time-error"),
        ("seconds", "inf", "limit-time-error"),
        ("calls", "1.5", "limit-calls-error"),
        ("calls", "51", "limit-calls-error"),
        ("args", "{", "run-args-error"),
        ("args", "[1]", "run-args-error"),
        ("args", "[" * 100_000, "run-args-error"),
        ("title", "x" * 201, "run-title-error"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_lost(browser, session, field, value, where):
    sent = {"title": "t", "code": "return 1", "seconds": "1", "calls": "1", "args": "{}"} | {field: value}
    answer = browser.post(f"/sessions/{session.pk}/runs/", sent)
    markup = Markup(answer.content.decode())
    assert answer.status_code == 422
    assert markup.by_id[where].strip()
    assert not Run.objects.exists()
    if field != "code":
        assert markup.by_id["run-code"].strip() == "return 1"


def test_htmx_gets_the_composer_alone(browser, session):
    headers = {"HX-Request": "true"}
    good = browser.post(f"/sessions/{session.pk}/runs/", {"code": "return 1"}, headers=headers)
    bad = browser.post(f"/sessions/{session.pk}/runs/", {"code": ""}, headers=headers)
    assert (good.status_code, bad.status_code) == (200, 422)
    assert good.content.decode().startswith('<form class="composer box"')
    assert "Write a script first." in bad.content.decode()


def test_a_full_queue_is_said_above_the_form(browser, session, settings):
    from pathlib import Path

    config = Path(settings.FORJA_HOME) / "config.json"
    config.write_text('{"forge": {"queue": {"maxPerSession": 1}}}')
    try:
        queued_run(session)
        answer = browser.post(f"/sessions/{session.pk}/runs/", {"code": "return 1"})
    finally:
        config.unlink()
    assert answer.status_code == 422
    assert "1 runs of this session wait already" in answer.content.decode()


def test_a_broken_configuration_is_said_on_every_page(browser, session, settings):
    from pathlib import Path

    config = Path(settings.FORJA_HOME) / "config.json"
    config.write_text('{"forge": {"javascript": {"timeoutMs": "<b>"}}}')
    try:
        pages = [browser.get(path).content.decode() for path in ("/", f"/sessions/{session.pk}/")]
    finally:
        config.unlink()
    for page in pages:
        assert "nothing runs until it is mended" in page
        assert "forge.javascript.timeoutMs" in page
        assert "<b>&quot;" not in page


@pytest.mark.parametrize("name", ["fan-out", "paginate", "state"])
def test_an_example_fills_the_composer(browser, session, name):
    page = read(browser, f"/sessions/{session.pk}/?example={name}")
    assert "await tools." in page.by_id["run-code"]
    assert page.all("input", id="run-title")[0]["value"]


def test_only_a_run_of_this_session_fills_the_composer(browser, session, owner):
    other = queued_run(create_session(user=owner), code="return 'elsewhere'")
    assert "elsewhere" not in read(browser, f"/sessions/{session.pk}/?from={other.id}").by_id["run-code"]


def test_a_session_without_runs_says_how_to_begin(browser, session):
    assert "No run yet" in read(browser, f"/sessions/{session.pk}/").text


def test_a_page_holds_a_bounded_number_of_cards_and_links_to_the_older_ones(browser, session):
    runs = [queued_run(session, title=f"number {number}") for number in range(CARDS + 3)]
    page = read(browser, f"/sessions/{session.pk}/")
    assert len(page.all("article")) == CARDS
    assert page.by_id["counts"].strip() == f"{CARDS + 3} queued"
    (older,) = page.all("a", rel="next")
    rest = read(browser, f"/sessions/{session.pk}/{older['href']}")
    assert [element["id"] for element in rest.all("article")] == [f"run-{run.id}" for run in reversed(runs[:3])]
    assert "composer" not in rest.ids


def test_the_page_of_many_runs_takes_few_queries(browser, session, django_assert_max_num_queries):
    for _ in range(CARDS):
        Scribe(session).starts().calls("read_file", path="a").settles(1).prints("x\n").ends(stdout_head="x\n")
    with django_assert_max_num_queries(20 + 4 * CARDS):
        read(browser, f"/sessions/{session.pk}/")


def test_quiet_calls_are_remembered(browser, session):
    path = f"/sessions/{session.pk}/"
    assert read(browser, path).all("div", id="cards")[0]["data-calls"] == "full"
    assert browser.head(f"{path}?calls=quiet").status_code == 200
    assert read(browser, path).all("div", id="cards")[0]["data-calls"] == "quiet"


# ── A run ───────────────────────────────────────────────────────────────────────────────────────


def test_a_run_has_a_page_with_every_part(browser, scribe):
    scribe.starts().calls("read_file", path="a").settles(1).prints("x\n").ends(stdout_head="x\n", value_json="[1]")
    page = read(browser, f"/runs/{scribe.run.id}/")
    assert {"call-1", "L1", "code", "output", "value", "limits"} <= set(page.ids)
    assert "Duration 361 ms" in page.text


def test_a_waiting_run_is_stopped_by_a_form(browser, scribe):
    answer = browser.post(f"/runs/{scribe.run.id}/cancel/")
    assert answer["Location"] == f"/sessions/{scribe.run.session_id}/#run-{scribe.run.id}"
    assert "Stopped by owner. It had not started." in read(browser, f"/sessions/{scribe.run.session_id}/").text


def test_stopping_a_running_one_is_a_request_until_it_is_confirmed(browser, scribe):
    scribe.starts()
    browser.post(f"/runs/{scribe.run.id}/cancel/")
    scribe.run.refresh_from_db()
    assert scribe.run.status == "running"
    assert "waiting for the engine to confirm" in read(browser, f"/runs/{scribe.run.id}/").text


def test_stopping_what_has_ended_shows_how_it_ended(browser, scribe):
    scribe.starts().ends()
    assert browser.post(f"/runs/{scribe.run.id}/cancel/").status_code == 302


def test_copying_gives_the_original_text(browser, session):
    text = "a\x00b\x1b[31m\u202e\u2028 </script>\n"
    scribe = Scribe(session, code=f"// {text}").starts()
    scribe.ends(value_json=json.dumps({"k": text}), stdout_chars=len(text), stdout_head=text)
    texts = {
        part: browser.get(f"/runs/{scribe.run.id}/raw/{part}/").json()["text"] for part in ("code", "value", "output")
    }
    assert texts["code"] == f"// {text}"
    assert json.loads(texts["value"]) == {"k": text}
    assert texts["output"] == text


# ── All pages ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def pages(browser, scribe, client):
    scribe.starts().calls("read_file", path="a").settles(1).prints("x\n").ends(stdout_head="x\n", value_json="[1]")
    room = f"/sessions/{scribe.run.session_id}/"
    found = {path: browser.get(path) for path in ("/", room, f"/runs/{scribe.run.id}/", "/runs/nope/")}
    browser.logout()
    return found | {"/sign-in/": browser.get("/sign-in/")}


def test_no_page_has_inline_script_or_style(pages):
    for path, answer in pages.items():
        markup = Markup(answer.content.decode())
        for tag, attributes in markup.elements:
            assert "style" not in attributes, path
            assert not [name for name in attributes if name.startswith("on")], path
            assert tag != "style", path
            assert tag != "script" or attributes["src"].startswith("/static/"), path
        assert "script-src 'self'" in answer["Content-Security-Policy"]
        assert "unsafe" not in answer["Content-Security-Policy"]


def test_every_page_has_one_heading_of_the_first_rank_unique_ids_and_labelled_fields(pages):
    for path, answer in pages.items():
        markup = Markup(answer.content.decode())
        assert len(markup.all("h1")) == 1, path
        assert len(markup.ids) == len(set(markup.ids)), path
        labelled = {attributes["for"] for attributes in markup.all("label")}
        fields = [*markup.all("input"), *markup.all("textarea"), *markup.all("select")]
        for field in fields:
            assert field.get("type") == "hidden" or field["id"] in labelled, (path, field)


def test_pages_speak_the_language_asked_for_and_remember_it(browser, session):
    path = f"/sessions/{session.pk}/"
    answer = browser.get(f"{path}?example=state&lang=es")
    assert answer["Location"] == f"{path}?example=state"
    page = browser.get(path).content.decode()
    assert '<html lang="es">' in page
    assert "Todavía no hay ejecuciones" in page
    assert f'ws-connect="/ws/es/sessions/{session.pk}/"' in page


def test_pages_speak_the_browsers_language(client, db):
    page = client.get("/sign-in/", headers={"Accept-Language": "es-MX,es;q=0.9"}).content.decode()
    assert "Token de entrada" in page


def test_an_unknown_language_changes_nothing(client, db):
    assert client.get("/sign-in/?lang=xx").status_code == 200


def test_every_page_leads_to_the_description_of_the_api(browser):
    assert browser.get("/").content.decode().count('href="/api/docs"') == 1


def test_a_broken_configuration_is_told_in_one_sentence_each(browser, session, settings):
    from pathlib import Path

    config = Path(settings.FORJA_HOME) / "config.json"
    config.write_text("\n{")
    try:
        answer = browser.post(f"/sessions/{session.pk}/runs/", {"code": "return 1"})
    finally:
        config.unlink()
    text = read_text(answer)
    assert "nothing runs until it is mended. It is not JSON: " in text
    assert "Mend" not in text


def read_text(answer):
    return Markup(answer.content.decode()).text


def test_the_composer_says_where_its_run_is(browser, session):
    answer = browser.post(f"/sessions/{session.pk}/runs/", {"code": "return 1"}, headers={"HX-Request": "true"})
    run = Run.objects.get()
    assert f'<a href="#run-{run.id}">See its card</a>' in answer.content.decode()
    assert '<div id="said" hx-swap-oob="innerHTML">Sent.</div>' in answer.content.decode()
