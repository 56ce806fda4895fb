"""Ending runs as a worker would: through the journal, with the poke that wakes who waits."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from runs.journal import Entry, append
from runs.models import Run
from runs.pokes import poke


def start_run(run: Run) -> None:
    with transaction.atomic():
        data = {"backend": "quickjs", "isolation": "isolated", "reason": "a test", "engine": None}
        assert append(
            run, [Entry(kind="started", data=data)], only_if=["queued"], status="running", started_at=timezone.now()
        )
    poke(run_id=run.id, session_id=run.session_id)


def end_run(run: Run, *, status: str = "succeeded", **changes: Any) -> None:
    with transaction.atomic():
        finished = Entry(kind="finished", data={"status": status})
        columns = {"status": status, "finished_at": timezone.now(), "value_json": "2"} | changes
        assert append(run, [finished], only_if=["queued", "running"], **columns)
    poke(run_id=run.id, session_id=run.session_id, ended=True)


def print_text(run: Run, *texts: str) -> None:
    entries = [Entry(kind="output", data={"stream": "stdout", "text": text, "offset": 0}) for text in texts]
    with transaction.atomic():
        append(run, entries)
    poke(run_id=run.id, session_id=run.session_id)
