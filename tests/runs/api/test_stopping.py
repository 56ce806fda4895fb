"""The server stops while requests wait: each answers what it has."""

from __future__ import annotations

import asyncio
import json

import pytest

from runs.accounts import create_token
from tests.runs.api.ending import start_run
from tests.runs.factories import queued_run


class Request:
    """One request to the real application, stopped as the server stops it: by cancelling its task."""

    def __init__(self, user, method, path, *, query="", accept="", body=b""):
        self._headers = [
            (b"host", b"localhost"),
            (b"authorization", f"Bearer {create_token(user=user, name='t')}".encode()),
            (b"content-type", b"application/json"),
            (b"accept", accept.encode()),
        ]
        self._scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
        self._body = body
        self.sent = []

    async def until_it_is_stopped(self, *, once) -> None:
        from forja_site.asgi import application

        scope = self._scope | {"headers": self._headers, "asgi": {"version": "3.0"}, "http_version": "1.1"}
        task = asyncio.create_task(application(scope, self._receive(), self._send))
        async with asyncio.timeout(10):
            while not await asyncio.to_thread(once, self):
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait([task])

    def _receive(self):
        waiting = [{"type": "http.request", "body": self._body, "more_body": False}]

        async def receive():
            if waiting:
                return waiting.pop()
            await asyncio.sleep(3600)

        return receive

    async def _send(self, message):
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def test_a_wait_answers_202_with_the_state_of_the_run(runner, room, user):
    body = json.dumps({"tool": "js_run", "code": "return 1"}).encode()
    request = Request(user, "POST", f"/api/sessions/{room.id}/runs", query="wait=60", body=body)
    runner.run(request.until_it_is_stopped(once=lambda _: room.runs.exists()))
    assert (request.sent[0]["status"], json.loads(request.body)["status"]) == (202, "queued")


@pytest.mark.parametrize("is_running", [False, True])
def test_a_stream_ends_as_a_whole_reply(runner, room, user, is_running):
    run = queued_run(room)
    if is_running:
        start_run(run)
    request = Request(user, "GET", f"/api/runs/{run.id}/events", accept="text/event-stream")
    runner.run(request.until_it_is_stopped(once=lambda asked: b'"queued"' in asked.body))
    assert request.sent[-1] == {"type": "http.response.body", "body": b""}
    assert request.body.endswith(b"\n\n")
    assert b"finished" not in request.body
