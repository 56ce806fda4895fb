"""A run's journal over HTTP: as JSON, or as a live stream of server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Router

from runs.api.callers import caller_of
from runs.api.database import reading
from runs.api.parameters import Seq, checked_id
from runs.api.replies import json_bytes
from runs.api.schemas import ERRORS, EventList
from runs.api.stopping import Stopping, stopping_of
from runs.hub import hub
from runs.journal import events_after
from runs.models import Run, RunEvent
from runs.present import event_json
from runs.services import run_for
from sandboxes.errors import ForjaError, InvalidInput

BATCH = 500
COMMENT_S = 15
LOOK_AGAIN_S = 3
EVENT_STREAM = "text/event-stream"

_LAST_EVENT_ID = {
    "in": "header",
    "name": "Last-Event-ID",
    "required": False,
    "schema": {"type": "integer", "minimum": 0},
    "description": "The `id` of the last event already read; it wins over `after`.",
}
_OPENAPI = {
    "parameters": [_LAST_EVENT_ID],
    "responses": {
        200: {
            "description": "JSON, or events when asked for",
            "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
        },
        204: {"description": "Asked for live, but the run has ended and nothing follows"},
    },
}

router = Router(tags=["runs"])


@router.get(
    "/runs/{run_id}/events",
    summary="Read the journal of a run, or follow it live",
    response={200: EventList, **ERRORS},
    openapi_extra=_OPENAPI,
)
async def events(request: HttpRequest, run_id: str, after: Seq = 0) -> HttpResponseBase:
    """The journal after `after`: JSON, or `text/event-stream` when the Accept header names it."""
    live = EVENT_STREAM in request.META.get("HTTP_ACCEPT", "")
    start = _last_event_id(request, after)
    caller = caller_of(request)

    def allowed() -> Run:
        return run_for(caller.user(), checked_id(run_id))

    run = await reading(allowed)
    if not live:
        return StreamingHttpResponse(_as_json(run, start), content_type="application/json")
    if run.is_terminal and start >= run.last_seq:
        # An EventSource reconnects for ever after a plain end; 204 is what tells it to stop.
        return HttpResponse(status=204)
    reply = StreamingHttpResponse(_as_stream(run, start, stopping_of(request), allowed), content_type=EVENT_STREAM)
    reply["X-Accel-Buffering"] = "no"
    return reply


def _last_event_id(request: HttpRequest, after: int) -> int:
    given = request.META.get("HTTP_LAST_EVENT_ID")
    if given is None:
        return after
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise InvalidInput("Last-Event-ID must be the `id` of an event of this run.", field="Last-Event-ID")
    return int(given)


async def _as_json(run: Run, after: int) -> AsyncIterator[bytes]:
    """The events there are now, read and sent in batches: a journal can be larger than memory should be."""
    separator = b'{"items":['
    while after < run.last_seq:
        batch = await reading(lambda: _batch(run, after))  # noqa: B023  awaited before `after` changes
        if not batch:
            break
        for event, encoded in batch:
            yield separator + encoded
            separator = b","
            after = event.seq
    yield separator.replace(b",", b"") + b"]}"


async def _as_stream(run: Run, after: int, stopping: Stopping, allowed: Callable[[], Run]) -> AsyncIterator[bytes]:
    """Events as they are written, until `finished` or the server's stop; a comment keeps quiet connections open.

    It ends as soon as its caller may no longer read the run, or the run is deleted: reconnecting is told why.
    """

    def next_batch() -> list[tuple[RunEvent, bytes]] | None:
        try:
            allowed()
        except ForjaError:
            return None
        return _batch(run, after)

    # Sent at once, so that the client sees the headers.
    yield b": the journal of this run\n\n"
    clock = asyncio.get_running_loop().time
    quiet_since = clock()
    async with hub.watch(run.id) as watch:
        stopping.wakes(watch)
        while not stopping.now:
            batch = await reading(next_batch)
            if batch is None:
                return
            for event, encoded in batch:
                yield b"id: %d\ndata: %b\n\n" % (event.seq, encoded)
                after = event.seq
                quiet_since = clock()
                if event.kind == RunEvent.Kind.FINISHED:
                    return
            if len(batch) == BATCH:
                continue
            if not batch and await reading(lambda: _has_ended(run, after)):  # noqa: B023
                return
            await watch.changed(min(LOOK_AGAIN_S, quiet_since + COMMENT_S - clock()))
            if clock() - quiet_since >= COMMENT_S:
                yield b": still running\n\n"
                quiet_since = clock()


def _batch(run: Run, after: int) -> list[tuple[RunEvent, bytes]]:
    return [(event, json_bytes(event_json(event))) for event in events_after(run, after, BATCH)]


def _has_ended(run: Run, after: int) -> bool:
    """Whether nothing will follow `after`: the run has ended, or was deleted."""
    row = Run.objects.filter(pk=run.pk).values_list("status", "last_seq").first()
    return row is None or (row[0] in Run.TERMINAL and row[1] <= after)
