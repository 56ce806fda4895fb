"""Waiting for a run to end: woken by the hub, with a slow second look in case a wake-up was lost."""

from __future__ import annotations

import asyncio

from runs.api.database import reading
from runs.api.replies import json_bytes
from runs.hub import Watch, hub
from runs.models import Run
from runs.present import run_json
from sandboxes.errors import NotFound

LOOK_AGAIN_S = 3


async def ended_run(run: Run, *, wait_s: float) -> bytes | None:
    """Give the run's JSON once it has ended; None when it has not within `wait_s` seconds, or cannot yet."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + wait_s
    async with hub.watch(run.id) as watch:
        while True:
            status, answer = await reading(lambda: look(run.pk))
            # A run that waits for a person is answered at once: the caller may be the one who approves.
            if answer is not None or status == Run.Status.AWAITING_APPROVAL or clock() >= deadline:
                return answer
            await _until_worth_a_look(watch, until=min(deadline, clock() + LOOK_AGAIN_S))


async def _until_worth_a_look(watch: Watch, *, until: float) -> None:
    """Sleep through the changes that are not the end."""
    clock = asyncio.get_running_loop().time
    while not watch.ended and clock() < until:
        await watch.changed(until - clock())
    watch.ended = False


def look(number: int) -> tuple[str, bytes | None]:
    """The run's status and, when it has ended, its whole JSON."""
    status = Run.objects.filter(pk=number).values_list("status", flat=True).first()
    if status is None:
        raise NotFound("The run was deleted meanwhile.")
    return status, run_bytes(Run.objects.get(pk=number)) if status in Run.TERMINAL else None


def run_bytes(run: Run) -> bytes:
    return json_bytes(run_json(run))
