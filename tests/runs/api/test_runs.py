"""Runs over HTTP: starting, waiting, reading, listing, stopping."""

from __future__ import annotations

import asyncio
import time

import pytest

from runs.api.database import writing
from runs.models import NestedCall, Run, Session
from tests.runs.api.ending import end_run, start_run
from tests.runs.factories import queued_run

CODE = {"tool": "js_run", "code": "return 1+1"}


def test_it_accepts_a_run_at_once(api, room):
    reply = api.post(f"/api/sessions/{room.id}/runs", CODE)
    assert reply.status_code == 202
    body = reply.json()
    assert body["status"] == "queued"
    assert body["code"] == "return 1+1"
    assert body["queue"] == {"position": 1}
    assert api.get(f"/api/runs/{body['id']}").json() == body


def test_it_wakes_the_waiting_caller_when_the_run_ends(api, room):
    async def work(client):
        waiting = asyncio.create_task(client.post(f"/api/sessions/{room.id}/runs?wait=20", json=CODE))
        run = await _first_run()
        await writing(lambda: start_run(run))
        await writing(lambda: end_run(run))
        ended = time.monotonic()
        return await waiting, time.monotonic() - ended

    reply, late_s = api.run(work)
    assert reply.status_code == 200
    assert (reply.json()["status"], reply.json()["value"]) == ("succeeded", 2)
    assert late_s < 1


async def _first_run() -> Run:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        run = await writing(lambda: Run.objects.first())
        if run is not None:
            return run
        await asyncio.sleep(0.005)
    raise AssertionError("no run was written")


def test_it_answers_202_when_the_run_has_not_ended_in_time(api, room):
    reply = api.post(f"/api/sessions/{room.id}/runs?wait=0.2", CODE)
    assert (reply.status_code, reply.json()["status"]) == (202, "queued")


@pytest.mark.parametrize("wait", ["301", "-1", "NaN", "soon", "1e999"])
def test_it_refuses_an_impossible_wait(api, room, wait):
    status, code, error = api.refused("POST", f"/api/sessions/{room.id}/runs?wait={wait}", json=CODE)
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", "wait")


def test_one_key_is_one_run_also_when_asked_twice_at_once(api, room):
    async def work(client):
        options = {"json": CODE, "headers": {"Idempotency-Key": "k1"}}
        asked = [client.post(f"/api/sessions/{room.id}/runs", **options) for _ in range(6)]
        return await asyncio.gather(*asked)

    replies = api.run(work)
    assert {reply.status_code for reply in replies} == {202}
    assert len({reply.json()["id"] for reply in replies}) == 1
    assert Run.objects.count() == 1


def test_another_body_under_the_same_key_is_a_conflict(api, room):
    headers = {"Idempotency-Key": "k1"}
    api.post(f"/api/sessions/{room.id}/runs", CODE, headers=headers)
    other = CODE | {"code": "return 3"}
    refused = api.refused("POST", f"/api/sessions/{room.id}/runs", json=other, headers=headers)
    assert refused[:2] == (409, "CONFLICT")
    assert Run.objects.count() == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "a\x01b"])
def test_an_impossible_key_is_refused_by_name(api, room, key):
    headers = {"Idempotency-Key": key}
    status, code, error = api.refused("POST", f"/api/sessions/{room.id}/runs", json=CODE, headers=headers)
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", "Idempotency-Key")


def test_a_key_is_the_sessions_own(api, room, user):
    headers = {"Idempotency-Key": "k1"}
    second = Session.objects.create(owner=user)
    ids = [api.post(f"/api/sessions/{one.id}/runs", CODE, headers=headers).json()["id"] for one in (room, second)]
    assert len(set(ids)) == 2


def test_a_repeated_request_waits_for_the_same_run(api, room):
    headers = {"Idempotency-Key": "k1"}
    first = api.post(f"/api/sessions/{room.id}/runs", CODE, headers=headers).json()
    end_run(Run.objects.get(id=first["id"]))
    again = api.post(f"/api/sessions/{room.id}/runs?wait=5", CODE, headers=headers)
    assert (again.status_code, again.json()["id"], again.json()["status"]) == (200, first["id"], "succeeded")


def test_it_refuses_a_run_when_the_queue_is_full_and_says_when_to_come_back(api, room):
    for _ in range(50):
        queued_run(room)
    reply = api.post(f"/api/sessions/{room.id}/runs", CODE)
    assert (reply.status_code, reply.json()["error"]["code"]) == (429, "QUEUE_FULL")
    assert int(reply.headers["retry-after"]) >= 1


def test_it_lists_runs_by_status_tool_and_session(api, room):
    first, second = queued_run(room), queued_run(room)
    end_run(first)
    listed = api.get("/api/runs", params={"status": "queued", "tool": "js_run", "session": room.id}).json()
    assert [item["id"] for item in listed["items"]] == [second.id]
    assert listed["total"] == {"count": 1, "exact": True}
    both = api.get("/api/runs?status=queued,succeeded").json()
    assert [item["id"] for item in both["items"]] == [second.id, first.id]


def test_it_pages_through_runs_while_new_ones_arrive(api, room):
    ids = [queued_run(room).id for _ in range(5)]
    page = api.get("/api/runs?limit=3").json()
    queued_run(room)
    rest = api.get("/api/runs", params={"limit": 3, "cursor": page["nextCursor"]}).json()
    assert [item["id"] for item in page["items"] + rest["items"]] == ids[::-1]
    assert rest["nextCursor"] is None


@pytest.mark.parametrize(
    "query", ["limitHit=x", "sort=x", "nonsense=1", "limit=0", "limit=9999", "cursor=@@", "status=no"]
)
def test_the_list_refuses_what_it_does_not_know_by_name(api, query):
    status, code, error = api.refused("GET", f"/api/runs?{query}")
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", query.partition("=")[0])


def test_it_shows_a_nested_call_with_its_result(api, room):
    run = queued_run(room)
    NestedCall.objects.create(
        run=run, seq=1, tool="read_file", status="succeeded", arguments_json='{"path":"a"}', result_json='{"text":"hi"}'
    )
    call = api.get(f"/api/runs/{run.id}/calls/1").json()
    assert (call["args"], call["result"]) == ({"path": "a"}, {"text": "hi"})
    assert api.refused("GET", f"/api/runs/{run.id}/calls/2")[:2] == (404, "NOT_FOUND")


def test_a_queued_run_is_cancelled_at_once_and_then_has_ended(api, room):
    run = queued_run(room)
    first = api.post(f"/api/runs/{run.id}/cancel")
    assert (first.status_code, first.json()["status"]) == (200, "cancelled")
    assert api.refused("POST", f"/api/runs/{run.id}/cancel")[:2] == (409, "ALREADY_FINISHED")


def test_cancelling_a_running_run_answers_its_state_again_and_again(api, room):
    run = queued_run(room)
    start_run(run)
    for _ in range(3):
        reply = api.post(f"/api/runs/{run.id}/cancel", {})
        assert (reply.status_code, reply.json()["status"]) == (200, "running")
    assert run.events.filter(kind="cancel_requested").count() == 1
    end_run(run, status="cancelled")
    assert api.refused("POST", f"/api/runs/{run.id}/cancel")[:2] == (409, "ALREADY_FINISHED")


def test_it_cancels_many_with_one_answer_each(api, room):
    waiting, ended = queued_run(room), queued_run(room)
    end_run(ended)
    items = api.post("/api/runs/cancel", {"ids": [waiting.id, ended.id, "nothing"]}).json()["items"]
    assert [item.get("status") or item["error"]["code"] for item in items] == [
        "cancelled",
        "ALREADY_FINISHED",
        "NOT_FOUND",
    ]


def test_it_hides_other_peoples_runs(other, room):
    run = queued_run(room)
    for method, path in [("GET", ""), ("GET", "/events"), ("GET", "/output"), ("GET", "/calls/1"), ("POST", "/cancel")]:
        assert other.refused(method, f"/api/runs/{run.id}{path}")[:2] == (404, "NOT_FOUND")
    assert other.get("/api/runs").json()["items"] == []
    assert other.refused("POST", f"/api/sessions/{room.id}/runs", json=CODE)[:2] == (404, "NOT_FOUND")


def test_an_analyst_may_not_cancel(analyst, room):
    run = queued_run(room)
    assert analyst.get(f"/api/runs/{run.id}").status_code == 200
    assert analyst.refused("POST", f"/api/runs/{run.id}/cancel")[:2] == (403, "FORBIDDEN")


def test_bytes_and_counts_are_whole_and_milliseconds_have_three_places(api, room):
    run = queued_run(room, progress={"note": "", "completed": 3.0, "total": 4.5}, calls_started=1)
    NestedCall.objects.create(run=run, seq=1, tool="read_file", status="succeeded", duration_ms=1.23456789)
    metrics = {"durationMs": 1.23456789, "peakMemoryBytes": 2_211_840.0, "bytesToModel": 5, "processes": 1.0}
    end_run(run, metrics=metrics)
    reply = api.get(f"/api/runs/{run.id}")
    assert '"peakMemoryBytes":2211840,"bytesToModel":5,"processes":1}' in reply.text
    assert '"completed":3,"total":4.5' in reply.text
    assert reply.json()["metrics"]["durationMs"] == 1.235
    assert reply.json()["calls"]["items"][0]["durationMs"] == 1.235


@pytest.mark.parametrize("status", ["failed", "timed_out", "cancelled"])
def test_only_a_succeeded_run_has_a_value(api, room, status):
    run, good = queued_run(room), queued_run(room)
    end_run(run, status=status, value_json="[1]")
    end_run(good, value_json="null")
    assert "value" not in api.get(f"/api/runs/{run.id}").json()
    assert api.get(f"/api/runs/{good.id}").json()["value"] is None
