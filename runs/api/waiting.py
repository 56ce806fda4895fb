"""Waiting for a run to end: woken by the hub, with a slow second look in case a wake-up was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from runs.api.database import reading
from runs.api.replies import json_bytes
from runs.api.stopping import Stopping
from runs.hub import Watch
from runs.models import Run
from runs.models.prepared import Prepared
from runs.present import run_json
from sandboxes.errors import NotFound

LOOK_AGAIN_S = 3


async def ended_run(
    run: Run, watch: Watch, *, wait_s: float, stopping: Stopping, ask_again: Callable[[], object]
) -> bytes | None:
    """Give the run's JSON once it has ended; None when it has not within `wait_s` seconds, or cannot yet.

    The server's stop ends the wait early. `ask_again` raises when the caller has lost the right to wait; it is called
    on a database thread before each look.

    `watch` was entered before the run was written, so an end that came since is not missed.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + wait_s
    stopping.wakes(watch)
    if run.is_terminal:
        return await reading(lambda: _if_ended(run.pk, ask_again, probably=True))
    while run.status != Run.Status.AWAITING_APPROVAL and clock() < deadline and not stopping.now:
        until = min(deadline, clock() + LOOK_AGAIN_S)
        ended = await _is_told_of_the_end(run.id, watch, until=until, stopping=stopping)
        answer = await reading(lambda: _if_ended(run.pk, ask_again, probably=ended))  # noqa: B023  awaited in this turn
        if answer is not None:
            return answer
    return None


async def _is_told_of_the_end(run_id: str, watch: Watch, *, until: float, stopping: Stopping) -> bool:
    """Sleep through what changes meanwhile; True when the hub said that this run ended, or lost its memory."""
    clock = asyncio.get_running_loop().time
    while not watch.ended_runs & {run_id, ""} and clock() < until and not stopping.now:
        await watch.changed(until - clock())
    told = bool(watch.ended_runs & {run_id, ""})
    watch.ended_runs.clear()
    return told


def _if_ended(number: int, ask_again: Callable[[], object], *, probably: bool) -> bytes | None:
    """The whole JSON of a run that has ended. A look that will likely find nothing reads the status alone."""
    ask_again()
    if not probably and _status(number) not in Run.TERMINAL:
        return None
    run = stored(number)
    return run_bytes(run) if run.is_terminal else None


def _status(number: int) -> str:
    status = Run.objects.filter(pk=number).values_list("status", flat=True).first()
    if status is None:
        raise NotFound("The run was deleted meanwhile.")
    return status


# Without what only the engine and replays need.
_by_number = Prepared(lambda: Run.objects.defer("state_before", "state_after").filter(pk=0))


def stored(number: int) -> Run:
    """The row as it is now."""
    run = _by_number.first(number)
    if run is None:
        raise NotFound("The run was deleted meanwhile.")
    return run


def run_bytes(run: Run) -> bytes:
    return json_bytes(run_json(run))
