"""What happens at the same time: cancels against ends, clients that leave."""

from __future__ import annotations

import asyncio
import contextlib
import random

from runs.api.database import reading
from runs.hub import hub
from runs.models import Run
from tests.runs.api.ending import end_run, start_run
from tests.runs.factories import queued_run


def test_a_cancel_and_an_end_at_once_leave_one_terminal_state(api, room):
    runs = [queued_run(room) for _ in range(40)]

    async def cancel(client, run):
        await asyncio.sleep(random.random() / 10)
        return await client.post(f"/api/runs/{run.id}/cancel")

    def work_on(run):
        with contextlib.suppress(AssertionError):
            start_run(run)
            end_run(run)

    async def work(client):
        cancels = [cancel(client, run) for run in runs for _ in range(2)]
        replies = await asyncio.gather(*cancels, *(reading(lambda run=run: work_on(run)) for run in runs))
        return replies[: len(cancels)]

    for reply in api.run(work):
        assert reply.status_code == 200 or (reply.status_code, reply.json()["error"]["code"]) == (
            409,
            "ALREADY_FINISHED",
        )
    for run in Run.objects.all():
        assert run.is_terminal
        assert run.events.filter(kind="finished").count() == 1
        assert (run.value_json == "2") == (run.status == "succeeded")
        assert [event.seq for event in run.events.order_by("seq")] == list(range(1, run.last_seq + 1))


async def _serve_until_gone(application, path, headers):
    """Open a request, leave once the first byte came (or after a moment), and wait for the application to return."""
    left = asyncio.Event()
    messages = asyncio.Queue()
    messages.put_nowait({"type": "http.request", "body": b'{"tool":"js_run","code":"return 1"}', "more_body": False})

    async def receive():
        if messages.empty():
            await left.wait()
            return {"type": "http.disconnect"}
        return await messages.get()

    async def send(message):
        pass

    method = "GET" if path.endswith("/events") else "POST"
    scope = {
        "type": "http",
        "method": method,
        "path": path.partition("?")[0],
        "query_string": path.partition("?")[2].encode(),
    }
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    serving = asyncio.create_task(application(scope | {"headers": encoded}, receive, send))
    await asyncio.sleep(0.3)
    assert not serving.done()
    left.set()
    await asyncio.wait_for(serving, 5)


def test_a_client_that_leaves_ends_its_wait_and_its_stream(api, room, runner):
    from forja_site.asgi import application

    run = queued_run(room)
    headers = api._headers | {"Host": "localhost", "Content-Type": "application/json"}

    async def work():
        await _serve_until_gone(application, f"/api/sessions/{room.id}/runs?wait=60", headers)
        await _serve_until_gone(application, f"/api/runs/{run.id}/events", headers | {"Accept": "text/event-stream"})
        await asyncio.sleep(0)
        return dict(hub.watch("x")._hub._watches)

    assert runner.run(work()) == {}
    assert Run.objects.filter(status="queued").count() == 2
