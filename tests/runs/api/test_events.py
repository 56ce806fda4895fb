"""The journal over HTTP: JSON and server-sent events."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.db import transaction

from runs.api import events
from runs.api.database import writing
from runs.journal import Entry, append
from tests.runs.api.ending import end_run, print_text, start_run
from tests.runs.factories import queued_run


def ended_run(room):
    run = queued_run(room)
    start_run(run)
    print_text(run, "a", "b")
    end_run(run)
    return run


def messages(text):
    """Decode a stream into `(id, event)` pairs; comments are left out."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    pairs = [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]
    return [(int(pair["id"]), json.loads(pair["data"])) for pair in pairs]


def test_it_gives_the_journal_in_order_without_gaps(api, room):
    items = api.get(f"/api/runs/{ended_run(room).id}/events").json()["items"]
    assert [item["seq"] for item in items] == [1, 2, 3, 4, 5]
    assert [item["kind"] for item in items] == ["queued", "started", "output", "output", "finished"]
    assert items[2]["text"] == "a"
    assert items[0]["at"].endswith("Z")


def test_it_gives_what_came_after(api, room):
    run = ended_run(room)
    assert [item["seq"] for item in api.get(f"/api/runs/{run.id}/events?after=3").json()["items"]] == [4, 5]
    assert api.get(f"/api/runs/{run.id}/events?after=5").json() == {"items": []}
    assert api.get(f"/api/runs/{run.id}/events?after=999").json() == {"items": []}


def test_the_last_id_read_counts_however_the_journal_is_asked_for(api, room):
    path = f"/api/runs/{ended_run(room).id}/events"
    items = api.get(f"{path}?after=1", headers={"Last-Event-ID": "3"}).json()["items"]
    assert [item["seq"] for item in items] == [4, 5]
    refused = api.refused("GET", path, headers={"Last-Event-ID": "-1"})
    assert (refused[:2], refused[2]["field"]) == ((400, "INVALID_INPUT"), "Last-Event-ID")


def test_it_reads_a_long_journal_in_batches(api, room, monkeypatch):
    monkeypatch.setattr(events, "BATCH", 2)
    items = api.get(f"/api/runs/{ended_run(room).id}/events").json()["items"]
    assert [item["seq"] for item in items] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("after", ["-1", "x", "99999999999999999999"])
def test_it_refuses_an_impossible_place(api, room, after):
    status, code, error = api.refused("GET", f"/api/runs/{queued_run(room).id}/events?after={after}")
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", "after")


def test_it_streams_an_ended_run_and_closes(api, room):
    run = ended_run(room)
    reply = api.get(f"/api/runs/{run.id}/events", headers={"Accept": "text/event-stream"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    pairs = messages(reply.text)
    assert [number for number, _ in pairs] == [1, 2, 3, 4, 5]
    assert [event["seq"] for _, event in pairs] == [1, 2, 3, 4, 5]


def test_it_streams_events_as_they_come_and_closes_after_the_last(api, room):
    run = queued_run(room)

    async def work(client):
        reading = asyncio.create_task(client.get(f"/api/runs/{run.id}/events", headers={"Accept": "text/event-stream"}))
        for step in (lambda: start_run(run), lambda: print_text(run, "x"), lambda: end_run(run)):
            await asyncio.sleep(0.02)
            await writing(step)
        return await asyncio.wait_for(reading, 10)

    kinds = [event["kind"] for _, event in messages(api.run(work).text)]
    assert kinds == ["queued", "started", "output", "finished"]


def test_it_honours_last_event_id_over_after(api, room):
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "3"}
    reply = api.get(f"/api/runs/{ended_run(room).id}/events?after=1", headers=headers)
    assert [number for number, _ in messages(reply.text)] == [4, 5]


def test_it_tells_a_reconnecting_reader_of_an_ended_run_to_stop(api, room):
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "5"}
    assert api.get(f"/api/runs/{ended_run(room).id}/events", headers=headers).status_code == 204


@pytest.mark.parametrize("after", [5, 999])
def test_a_stream_beyond_the_end_of_an_ended_run_is_204_however_it_was_asked(api, room, after):
    run = ended_run(room)
    for options in ({"params": {"after": after}}, {"headers": {"Last-Event-ID": str(after)}}):
        headers = options.pop("headers", {}) | {"Accept": "text/event-stream"}
        assert api.get(f"/api/runs/{run.id}/events", headers=headers, **options).status_code == 204


def test_a_call_is_told_with_its_arguments_as_given(api, room):
    run = queued_run(room)
    long = '{"path":"' + "é" * 2_000
    data = [{"args": '{"path":"a"}'}, {"args": long[:2_000], "argsBytes": 4_011}, {"args": "[" * 1_900}]
    with transaction.atomic():
        append(run, [Entry(kind="call_started", data={"call": 1, "offsetMs": 1.23456} | one) for one in data])
    whole, cut, broken = api.get(f"/api/runs/{run.id}/events?after=1").json()["items"]
    assert whole["args"] == {"path": "a"}
    assert cut["args"] == {"preview": long[:2_000], "bytes": 4_011} and "argsBytes" not in cut
    assert broken["args"] == {"preview": "[" * 1_900}
    assert whole["offsetMs"] == 1.235


def test_it_refuses_a_last_event_id_that_is_none(api, room):
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "latest"}
    refused = api.refused("GET", f"/api/runs/{queued_run(room).id}/events", headers=headers)
    assert refused[:2] == (400, "INVALID_INPUT")


def test_it_keeps_a_quiet_stream_open_with_comments(api, room, monkeypatch):
    monkeypatch.setattr(events, "COMMENT_S", 0.05)
    monkeypatch.setattr(events, "LOOK_AGAIN_S", 0.05)
    run = queued_run(room)

    async def work(client):
        reading = asyncio.create_task(client.get(f"/api/runs/{run.id}/events", headers={"Accept": "text/event-stream"}))
        await asyncio.sleep(0.4)
        await writing(lambda: end_run(run))
        return await asyncio.wait_for(reading, 10)

    assert ": still running\n\n" in api.run(work).text
