"""Runs over HTTP: asking for one, reading one or many, stopping them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from runs.api.bodies import read_nothing, read_object
from runs.api.callers import caller_of
from runs.api.database import reading, writing
from runs.api.paging import page_of
from runs.api.parameters import Decimal, PageSize, Seq, checked_id
from runs.api.replies import json_bytes, json_reply, raw_reply
from runs.api.schemas import ERRORS, CallDetail, CancelIn, CancelOut, RunIn, RunOut, RunPage, json_body
from runs.api.stopping import stopping_of
from runs.api.waiting import ended_run, run_bytes, stored
from runs.hub import hub
from runs.models import NestedCall, Run
from runs.present import call_json, run_summary
from runs.queue import positions
from runs.requests import parse_run_request
from runs.services import cancel, run_for, submit
from runs.sessions import session_for
from sandboxes.errors import ForjaError, InvalidInput, NotFound

MAX_WAIT_S = 300
MAX_IDS = 100

WaitSeconds = Annotated[float, Field(ge=0, le=MAX_WAIT_S), Decimal]

_START = json_body(RunIn) | {
    "parameters": [
        {
            "in": "header",
            "name": "Idempotency-Key",
            "required": False,
            "schema": {"type": "string", "minLength": 1, "maxLength": 200},
            "description": "Two requests with one key are one run, for 24 hours; another body under it is CONFLICT.",
        }
    ]
}

router = Router(tags=["runs"])


@router.post(
    "/sessions/{session_id}/runs",
    summary="Start a run, and wait for its end if asked to",
    response={200: RunOut, 202: RunOut, **ERRORS},
    openapi_extra=_START,
)
async def start(request: HttpRequest, session_id: str, wait: WaitSeconds = 0) -> HttpResponse:
    """Start a run: 202 and the run. With `wait`, 200 when it has ended within so many seconds."""
    asked = parse_run_request(read_object(request))
    key = request.META.get("HTTP_IDEMPOTENCY_KEY")
    caller = caller_of(request)

    def work() -> Run:
        user = caller.user()
        session = session_for(user, checked_id(session_id), write=True)
        return submit(user=user, session=session, request=asked, door=Run.Door.API, idempotency_key=key)

    async with hub.watch(session_id) if wait else nullcontext() as watch:
        run = await writing(work)
        if watch is not None:
            stopping = stopping_of(request)
            ended = await ended_run(run, watch, wait_s=wait, stopping=stopping, ask_again=caller.user)
            if ended is not None:
                return raw_reply(ended)
            # The wait may have outlasted the caller's rights.
            await reading(caller.user)
    return raw_reply(await reading(lambda: run_bytes(stored(run.pk))), status=202)


@router.get("/runs", summary="List the runs you may see, newest first", response={200: RunPage, **ERRORS})
async def list_runs(
    request: HttpRequest,
    session: str = "",
    status: str = "",
    tool: str = "",
    cursor: str = "",
    limit: PageSize = 50,
) -> HttpResponse:
    """The runs the caller may see, newest first. `status` takes several, separated by commas."""
    statuses = _one_of(status, Run.Status.values, field="status")
    tools = [tool] if tool else []

    def work() -> bytes:
        rows = Run.objects.visible_to(caller_of(request).user()).light()
        if session:
            rows = rows.filter(session=checked_id(session))
        if statuses:
            rows = rows.filter(status__in=statuses)
        if tools:
            rows = rows.filter(tool__in=tools)
        page = page_of(rows, key="number", key_pattern=r"\d{1,18}", cursor=cursor, limit=limit, show=_summaries)
        return json_bytes(page)

    return raw_reply(await reading(work))


def _summaries(runs: list[Run]) -> list[dict[str, Any]]:
    places = positions(runs)
    return [run_summary(run, places) for run in runs]


def _one_of(text: str, allowed: list[str], *, field: str) -> list[str]:
    values = text.split(",") if text else []
    for value in values:
        if value not in allowed:
            raise InvalidInput(f"`{field}` must be one of {', '.join(allowed)}.", field=field)
    return values


@router.post(
    "/runs/cancel",
    summary="Stop several runs by their ids",
    response={200: CancelOut, **ERRORS},
    openapi_extra=json_body(CancelIn),
)
async def cancel_many(request: HttpRequest) -> HttpResponse:
    """Stop several runs; one answer per id, in their order."""
    ids = read_object(request, fields=("ids",)).get("ids")
    if not isinstance(ids, list) or not 1 <= len(ids) <= MAX_IDS or not all(isinstance(item, str) for item in ids):
        raise InvalidInput(f"`ids` must be a list of 1 to {MAX_IDS} run ids.", field="ids")

    def work() -> dict[str, Any]:
        user = caller_of(request).user()
        return {"items": [_cancelled(user, run_id) for run_id in ids]}

    return json_reply(await writing(work))


def _cancelled(user: Any, run_id: str) -> dict[str, Any]:
    try:
        run = cancel(user=user, run=run_for(user, checked_id(run_id), write=True))
    except ForjaError as error:
        return {"id": run_id, "error": error.as_dict()}
    return {"id": run_id, "status": run.status}


@router.get("/runs/{run_id}", summary="Read one run with its calls, value and output", response={200: RunOut, **ERRORS})
async def get(request: HttpRequest, run_id: str) -> HttpResponse:
    """Text and value together are cut to `maxOutputChars`; only a run that succeeded has a `value`."""

    def work() -> bytes:
        return run_bytes(run_for(caller_of(request).user(), checked_id(run_id)))

    return raw_reply(await reading(work))


@router.post("/runs/{run_id}/cancel", summary="Stop one run that has not ended", response={200: RunOut, **ERRORS})
async def cancel_one(request: HttpRequest, run_id: str) -> HttpResponse:
    """Answers its state, again and again, until it has ended; then `ALREADY_FINISHED`."""
    read_nothing(request)

    def work() -> bytes:
        user = caller_of(request).user()
        return run_bytes(cancel(user=user, run=run_for(user, checked_id(run_id), write=True)))

    return raw_reply(await writing(work))


@router.get("/runs/{run_id}/calls/{seq}", summary="Read one nested call of a run", response={200: CallDetail, **ERRORS})
async def call(request: HttpRequest, run_id: str, seq: Seq) -> HttpResponse:
    """The call with its whole stored arguments and result."""

    def work() -> bytes:
        run = run_for(caller_of(request).user(), checked_id(run_id))
        row = NestedCall.objects.filter(run=run, seq=seq).first()
        if row is None:
            raise NotFound(f"The run made no call {seq}.", hint="The run's `calls.items` names those there are.")
        return json_bytes(call_json(row, full=True))

    return raw_reply(await reading(work))
