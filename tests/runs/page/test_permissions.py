"""Who may see what, and act where."""

from __future__ import annotations

import pytest

from runs.accounts import create_user
from runs.models import Run, Session, User
from runs.sessions import create_session


@pytest.fixture
def paths(scribe):
    run, room = scribe.run.id, scribe.run.session_id
    return [f"/sessions/{room}/", f"/runs/{run}/", f"/runs/{run}/raw/code/", f"/sessions/{room}/live/?told={{}}"]


def test_another_persons_session_does_not_exist(stranger, scribe, paths):
    for path in paths:
        answer = stranger.get(path)
        assert answer.status_code == 404, path
        assert "Read a file" not in answer.content.decode()
    assert stranger.post(f"/sessions/{scribe.run.session_id}/runs/", {"code": "return 1"}).status_code == 404
    assert stranger.post(f"/runs/{scribe.run.id}/cancel/").status_code == 404
    assert Run.objects.count() == 1
    assert Run.objects.get().status == "queued"


def test_another_persons_session_is_not_listed(stranger, scribe):
    assert "No session yet" in stranger.get("/").content.decode()


def test_an_analyst_reads_everything_and_acts_nowhere(analyst, scribe):
    room = f"/sessions/{scribe.run.session_id}/"
    page = analyst.get(room).content.decode()
    assert "Read a file" in page
    assert "Belongs to owner: you can read it, not act in it." in page
    assert 'id="composer"' not in page
    assert "data-stop" not in page
    assert analyst.post(f"{room}runs/", {"code": "return 1"}).status_code == 403
    assert analyst.post(f"/runs/{scribe.run.id}/cancel/").status_code == 403
    assert Run.objects.get().status == "queued"


def test_an_unknown_page_part_is_not_found(browser, scribe):
    assert browser.get(f"/runs/{scribe.run.id}/raw/state/").status_code == 404
    assert browser.get("/runs/nope/").status_code == 404


def test_acting_takes_a_token_of_our_own_page(owner, scribe):
    from django.test import Client

    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(owner)
    answer = guarded.post(f"/runs/{scribe.run.id}/cancel/")
    assert answer.status_code == 403
    assert "Open the page again, then send the form from there." in answer.content.decode()
    assert guarded.post("/", {"workspace": "default"}).status_code == 403


def test_inside_an_open_page_a_refusal_opens_the_page_anew(stranger, scribe):
    headers = {"HX-Request": "true"}
    answer = stranger.post(f"/runs/{scribe.run.id}/cancel/", headers=headers)
    assert (answer.status_code, answer["HX-Refresh"]) == (404, "true")
    stranger.logout()
    answer = stranger.post(f"/runs/{scribe.run.id}/cancel/", headers=headers)
    assert (answer.status_code, answer["HX-Redirect"]) == (401, "/sign-in/")


@pytest.mark.parametrize("path", ["/nowhere/", "/sessions/", "/static/nothing.css", "/runs//"])
def test_an_unknown_address_says_where_to_start(browser, path):
    answer = browser.get(path)
    assert answer.status_code == 404
    assert "Start from the list of sessions." in answer.content.decode()


def test_an_analyst_is_offered_nothing_to_act_with_even_in_a_session_of_his_own(analyst, scribe):
    own = create_session(user=create_user(name="later an analyst"))
    Session.objects.filter(pk=own.pk).update(owner=User.objects.get(username="analyst"))
    index, room = analyst.get("/").content.decode(), analyst.get(f"/sessions/{own.pk}/").content.decode()
    assert 'name="workspace"' not in index
    assert "New session" not in room
    assert 'id="composer"' not in room
    for page in (index, room):
        assert "As an analyst you read everything and act nowhere." in page
    answer = analyst.post("/", {"title": "t", "workspace": "default"})
    assert answer.status_code == 403
    assert "An analyst reads everything and changes nothing." in answer.content.decode()
    assert analyst.post(f"/sessions/{own.pk}/runs/", {"code": "return 1"}).status_code == 403
