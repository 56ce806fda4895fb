"""An open page follows its runs: nothing missed, nothing twice, never more than it can hold."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs import live
from runs.cards import CARD_CALLS, Viewer
from runs.live import MAX_CARDS, Page, Told, read_told
from runs.models import Run
from runs.printed import LIVE_CHUNKS
from runs.sessions import create_session
from tests.runs.page.reading import Markup, printed
from tests.runs.page.scribe import Scribe


def opened(scribe, *, view="session", holds=None):
    """A page that was drawn now, with this run's card on it unless told otherwise."""
    scribe.run.refresh_from_db()
    cards = {scribe.run.id: scribe.run.last_seq} if holds is None else holds
    session = scribe.run.session
    viewer = Viewer(user=session.owner, full=view == "run")
    page = Page(viewer=viewer, session=session, told=Told(view=view, cards=cards))
    return page, page.catch_up()


def swaps(html, how=None):
    """The ids a frame touches, in order."""
    found = re.findall(r'id="([^"]+)"[^>]*? hx-swap-oob="([^"]+)"', html)
    return [target for target, swap in found if how in (None, swap)]


# ── Connecting ──────────────────────────────────────────────────────────────────────────────────


def test_an_ended_card_that_is_up_to_date_is_not_sent_again(scribe):
    scribe.starts().ends()
    _page, html = opened(scribe)
    assert f"run-{scribe.run.id}-body" not in html


def test_a_card_that_ended_while_the_page_was_away_is_drawn_anew(scribe):
    scribe.starts()
    held = {scribe.run.id: scribe.run.last_seq}
    scribe.ends(value_json="42")
    _page, html = opened(scribe, holds=held)
    assert "Succeeded" in Markup(html).by_id[f"run-{scribe.run.id}-status"]
    assert "42" in Markup(html).by_id[f"run-{scribe.run.id}-body"]


def test_runs_that_came_while_the_page_was_away_are_put_on_top_in_order(scribe, session):
    older, newer = Scribe(session, title="older"), Scribe(session, title="newer")
    _page, html = opened(scribe)
    cards = [attributes["id"] for attributes in Markup(html).all("article")]
    assert cards == [f"run-{older.run.id}", f"run-{newer.run.id}"]
    assert html.count('id="cards" hx-swap-oob="afterbegin"') == 2


def test_runs_older_than_those_shown_stay_behind_their_link(scribe, session):
    newer = Scribe(session, title="newer")
    _page, html = opened(scribe, holds={newer.run.id: 1})
    assert f'id="run-{scribe.run.id}"' not in html


def test_cards_of_another_session_are_never_sent(scribe, session, owner):
    from runs.sessions import create_session

    other = Scribe(create_session(user=owner), title="elsewhere")
    _page, html = opened(scribe, holds={other.run.id: 0})
    assert "elsewhere" not in html


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {},
        {"view": "session"},
        {"view": "all", "cards": {}},
        {"view": "session", "cards": []},
        {"view": "session", "cards": {"a": "1"}},
        {"view": "session", "cards": {"a": -1}},
        {"view": "session", "cards": {"a": True}},
        {"view": "session", "cards": {"a": 10**30}},
        {"view": "session", "cards": {"a" * 41: 1}},
        {"view": "session", "cards": {str(number): 1 for number in range(201)}},
    ],
)
def test_a_first_message_out_of_shape_is_refused(message):
    assert read_told(message) is None


# ── Following ───────────────────────────────────────────────────────────────────────────────────


def test_nothing_new_sends_nothing(scribe):
    page, _html = opened(scribe.starts())
    page.update()
    assert page.update() == ""


def test_a_start_changes_status_actions_and_body(scribe):
    page, _html = opened(scribe)
    scribe.starts()
    html = page.update()
    assert "Running" in Markup(html).by_id[f"run-{scribe.run.id}-status"]
    assert swaps(html, "innerHTML")[:4] == [
        f"run-{scribe.run.id}-{part}" for part in ("status", "meta", "actions", "body")
    ]


def test_output_arrives_once_and_in_order_however_the_frames_fall(scribe):
    page, html = opened(scribe.starts())
    seen = printed(html)
    expected = ""
    for number in range(60):
        stream = "stderr" if number % 7 == 0 else "stdout"
        scribe.prints(f"\nline {number}", stream)
        expected += f"\nline {number}"
        if number % 3 == 0:
            seen += printed(page.update())
    seen += printed(page.update())
    assert seen == expected


def test_output_written_between_the_two_reads_is_not_shown_twice(scribe, monkeypatch):
    """The row is read before its events; a worker writes in between."""
    page, _html = opened(scribe.starts())
    scribe.prints("one\n")
    original = live.journal.events_after

    def late(run, seq, limit=None):
        monkeypatch.setattr(live.journal, "events_after", original)
        scribe.prints("two\n").prints("three\n")
        return original(run, seq, limit)

    monkeypatch.setattr(live.journal, "events_after", late)
    first = printed(page.update())
    assert first + printed(page.update()) == "one\ntwo\nthree\n"


def test_a_pane_holds_the_last_pieces_only(scribe):
    page, _html = opened(scribe.starts())
    added, removed = set(), set()
    for number in range(LIVE_CHUNKS + 30):
        scribe.prints(f"{number}\n", "stderr" if number % 2 else "stdout")
        html = page.update()
        added |= set(re.findall(r'<samp data-stream="\w+" id="([^"]+)"', html))
        removed |= set(swaps(html, "delete"))
    assert removed <= added
    assert len(added - removed) == LIVE_CHUNKS


def test_a_flood_of_output_makes_small_frames_and_says_what_is_left_out(scribe):
    page, _html = opened(scribe.starts().prints("start\n"))
    for number in range(300):
        scribe.prints(f"{number} " + "x" * 2_000 + "\n", "stderr" if number % 2 else "stdout", omitted=40_000)
    html = page.update()
    assert len(html) < 60_000
    assert "characters in between are stored and not shown" in html
    assert "299 xxx" in printed(html)


def test_far_behind_a_card_is_drawn_anew_instead_of_event_by_event(scribe, monkeypatch):
    monkeypatch.setattr(live, "MAX_EVENTS", 50)
    page, _html = opened(scribe.starts())
    for number in range(60):
        scribe.prints(f"{number}\n")
    html = page.update()
    assert f"run-{scribe.run.id}-body" in swaps(html)
    scribe.prints("last\n")
    assert printed(page.update()) == "last\n"


def test_a_call_is_added_once_and_replaced_when_it_ends(scribe):
    page, _html = opened(scribe.starts())
    scribe.calls("read_file", path="a")
    assert f"run-{scribe.run.id}-calls-slot" in swaps(page.update())
    scribe.calls("read_file", path="b")
    html = page.update()
    assert swaps(html, "beforeend") == [f"run-{scribe.run.id}-calls"]
    assert Markup(html).all("li", id=f"run-{scribe.run.id}-call-2")
    scribe.settles(1)
    html = page.update()
    assert swaps(html, "true") == [f"run-{scribe.run.id}-call-1"]
    assert "Done:" in Markup(html).by_id[f"run-{scribe.run.id}-call-1"]
    assert "1 of 2 done" in Markup(html).by_id[f"run-{scribe.run.id}-count"]


def test_a_longer_run_redraws_its_lanes_in_steps(scribe):
    page, _html = opened(scribe.starts().calls("read_file", path="a"))
    Run.objects.filter(pk=scribe.run.pk).update(started_at=timezone.now() - timedelta(seconds=3))
    scribe.calls("read_file", path="b")
    html = page.update()
    assert swaps(html, "innerHTML").count(f"run-{scribe.run.id}-calls") == 1


def test_the_list_of_calls_stays_bounded(scribe):
    page, html = opened(scribe.starts())
    held = set()
    for _ in range(3 * CARD_CALLS):
        scribe.calls("read_file", path="a")
        html = page.update()
        if f"run-{scribe.run.id}-calls" in swaps(html, "innerHTML"):
            held = set()
        held |= {attributes["id"] for attributes in Markup(html).all("li", **{"class": "call"})}
        assert len(held) <= 2 * CARD_CALLS + 1
    assert f"run-{scribe.run.id}-call-{3 * CARD_CALLS}" in held


def test_progress_refills_its_own_part(scribe):
    page, _html = opened(scribe.starts())
    scribe.reports("a", 1, 4)
    assert f"run-{scribe.run.id}-progress-slot" in swaps(page.update())
    scribe.reports("b", 2, 4)
    html = page.update()
    assert swaps(html) == [f"run-{scribe.run.id}-time", f"run-{scribe.run.id}-progress"]
    assert Markup(html).all("progress")[0]["value"] == "500"


def test_the_end_draws_every_part_but_leaves_the_announcing_element(scribe):
    page, _html = opened(scribe.starts().prints("x\n"))
    scribe.ends(value_json="[7]", stdout_head="x\n")
    html = page.update()
    assert f"run-{scribe.run.id}" not in swaps(html)
    assert "Succeeded" in Markup(html).by_id[f"run-{scribe.run.id}-status"]
    assert "data-follow" not in html
    assert "calls live" not in html
    assert page.update() == ""


def test_a_new_run_comes_on_top_and_the_oldest_ended_one_makes_room(scribe, session):
    page, _html = opened(scribe.starts().ends())
    for _ in range(MAX_CARDS):
        Scribe(session).starts().ends()
    html = page.update()
    assert len(Markup(html).all("article")) == MAX_CARDS
    assert swaps(html, "delete") == [f"run-{scribe.run.id}"]


def test_a_page_of_older_runs_gets_no_new_ones(scribe, session):
    page, _html = opened(scribe, view="older")
    Scribe(session)
    assert "article" not in page.update()


def test_a_runs_own_page_follows_it_alone(scribe, session):
    page, html = opened(scribe.starts(), view="run")
    assert "counts" not in swaps(html)
    Scribe(session)
    scribe.ends(value_json="1")
    html = page.update()
    assert "article" not in html
    assert f"run-{scribe.run.id}-facts" in swaps(html)
    assert 'id="value"' in html


def test_counts_and_places_in_line_follow_other_runs(scribe, session):
    second = Scribe(session)
    page, html = opened(scribe, holds={scribe.run.id: 1, second.run.id: 1})
    assert "2 queued" in Markup(html).by_id["counts"]
    scribe.starts()
    html = page.update()
    markup = Markup(html)
    assert "1 running, 1 queued" in markup.by_id["counts"]
    assert "Next in line." in markup.by_id[f"run-{second.run.id}-queue"]


def test_an_idle_look_costs_few_queries(scribe):
    page, _html = opened(scribe.starts())
    page.update()
    with CaptureQueriesContext(connection) as queries:
        page.update()
    assert len(queries) <= 4


def test_a_run_that_starts_and_ends_between_two_looks_changes_the_list_of_sessions(scribe, session):
    page, html = opened(scribe.starts().ends("failed"))
    assert "Failed" in Markup(html).by_id[f"rail-{session.pk}"]
    Scribe(session).starts().ends("succeeded")
    assert "Succeeded" in Markup(page.update()).by_id[f"rail-{session.pk}"]
    assert "rail" not in page.update()


def test_other_sessions_in_the_list_are_looked_at_now_and_then(scribe, owner, monkeypatch):
    page, _html = opened(scribe.starts().ends())
    other = create_session(user=owner, title="Other")
    Scribe(other).starts().ends("timed_out")
    assert "rail" not in page.update()
    monkeypatch.setattr(live, "RAIL_S", 0.0)
    assert swaps(page.update()) == [f"rail-{other.pk}"]
    assert page.update() == ""
