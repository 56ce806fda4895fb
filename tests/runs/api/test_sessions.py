"""Sessions over HTTP."""

from __future__ import annotations

import pytest

from runs.models import Session, User
from tests.runs.factories import queued_run


def test_it_opens_reads_lists_and_deletes_a_session(api):
    made = api.post("/api/sessions", {"title": "Numbers"})
    assert made.status_code == 201
    assert made.json()["title"] == "Numbers"
    assert api.get(f"/api/sessions/{made.json()['id']}").json() == made.json()
    assert api.get("/api/sessions").json()["items"] == [made.json()]
    deleted = api.call("DELETE", f"/api/sessions/{made.json()['id']}")
    assert (deleted.status_code, "content-length" in deleted.headers) == (204, False)
    assert api.refused("GET", f"/api/sessions/{made.json()['id']}")[:2] == (404, "NOT_FOUND")


def test_it_pages_through_sessions_without_missing_one(api, user):
    ids = [Session.objects.create(owner=user).id for _ in range(5)]
    seen, cursor = [], ""
    while cursor is not None:
        page = api.get("/api/sessions", params={"limit": 2, "cursor": cursor}).json()
        assert page["total"] == {"count": 5, "exact": True}
        seen += [item["id"] for item in page["items"]]
        cursor = page["nextCursor"]
    assert sorted(seen) == sorted(ids)
    assert len(seen) == 5


def test_it_names_the_parent_of_a_child_session(api, room):
    child = api.post("/api/sessions", {"parent": room.id}).json()
    assert child["parent"] == room.id
    assert Session.objects.get(pk=child["id"]).root_id == room.id


def test_it_hides_other_peoples_sessions(other, room):
    assert other.get("/api/sessions").json()["items"] == []
    assert other.refused("GET", f"/api/sessions/{room.id}")[:2] == (404, "NOT_FOUND")
    assert other.refused("DELETE", f"/api/sessions/{room.id}")[:2] == (404, "NOT_FOUND")
    assert other.refused("POST", "/api/sessions", json={"parent": room.id})[:2] == (404, "NOT_FOUND")


def test_an_analyst_reads_everything_and_changes_nothing(analyst, room):
    assert analyst.get(f"/api/sessions/{room.id}").status_code == 200
    assert analyst.refused("DELETE", f"/api/sessions/{room.id}")[:2] == (403, "FORBIDDEN")
    run = {"tool": "js_run", "code": "return 1"}
    assert analyst.refused("POST", f"/api/sessions/{room.id}/runs", json=run)[:2] == (403, "FORBIDDEN")


def test_it_does_not_delete_a_session_while_a_run_is_active(api, room):
    queued_run(room)
    assert api.refused("DELETE", f"/api/sessions/{room.id}")[:2] == (409, "CONFLICT")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "x"}, "name"),
        ({"title": 3}, "title"),
        ({"title": "a\x00b"}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"workspace": "nowhere"}, "workspace"),
    ],
)
def test_it_refuses_a_wrong_field_by_name(api, body, field):
    status, code, error = api.refused("POST", "/api/sessions", json=body)
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", field)


def test_an_analyst_opens_no_session_and_starts_no_run_even_in_one_of_their_own(analyst):
    status, code, error = analyst.refused("POST", "/api/sessions", json={})
    assert (status, code) == (403, "FORBIDDEN") and error["hint"]
    own = Session.objects.create(owner=User.objects.get(username="eve"))
    run = {"tool": "js_run", "code": "return 1"}
    assert analyst.refused("POST", f"/api/sessions/{own.id}/runs", json=run)[:2] == (403, "FORBIDDEN")
    assert analyst.refused("DELETE", f"/api/sessions/{own.id}")[:2] == (403, "FORBIDDEN")
