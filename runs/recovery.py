"""Ending what a dead worker left: each such run is told so, keeps what it had, and is never run again."""

from __future__ import annotations

import logging
import os
import socket
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from runs import journal
from runs.finishing import finished_data, terminal_columns, waiting_metrics
from runs.journal import Entry
from runs.models import NestedCall, Run, Worker
from runs.pokes import poke
from runs.streams import PART_CHARS, path_of
from runs.writing import write
from sandboxes.errors import Interrupted

SILENT_S = 15
"""After so long without a heartbeat a worker on another host counts as dead."""
FORGET_DAYS = 1
CUT_OFF = {
    "code": Interrupted.code,
    "message": "The worker stopped during this call.",
    "hint": "Look at what the tool may have done before you run it again.",
}

log = logging.getLogger(__name__)


def end_orphans() -> int:
    """End every running run whose worker is gone; gives how many."""
    ended = 0
    owners = set(Run.objects.filter(status="running").values_list("worker", flat=True))
    if not owners:
        return 0
    workers = {worker.id: worker for worker in Worker.objects.filter(pk__in=owners)}
    for owner in owners:
        worker = workers.get(owner)
        if worker is None or not is_alive(worker):
            for run in Run.objects.filter(status="running", worker=owner):
                ended += end_orphan(run)
    return ended


def forget_dead_workers() -> None:
    """Drop the rows of workers that have been silent for long."""
    Worker.objects.filter(heartbeat_at__lt=timezone.now() - timedelta(days=FORGET_DAYS)).delete()


def is_alive(worker: Worker) -> bool:
    """Whether the process that a worker row stands for still runs."""
    if worker.host == socket.gethostname():
        return _same_process(worker.pid, worker.boot)
    return worker.heartbeat_at > timezone.now() - timedelta(seconds=SILENT_S)


def _same_process(pid: int, boot: str) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    # A zombie keeps its entry but runs nothing any more.
    return fields[0] not in "ZX" and (not boot or fields[19] == boot or pid == os.getpid())


def end_orphan(run: Run) -> bool:
    """Give one abandoned run its terminal status, with the output and calls it had."""
    error = Interrupted("The worker that ran this stopped without ending it (a restart or a crash).")
    now = timezone.now()
    running_calls = NestedCall.objects.filter(run=run, status="running").order_by("seq")
    open_calls = list(running_calls.values_list("seq", flat=True))
    columns = terminal_columns(error, now) | _kept_output(run) | {"metrics": waiting_metrics(run)}
    entries = [
        Entry(kind="call_finished", data={"call": seq, "status": "cancelled", "error": CUT_OFF}, at=now)
        for seq in open_calls
    ]
    entries.append(Entry(kind="finished", data=finished_data(error), at=now))
    with write():
        written = journal.append(run, entries, only_if=["running"], **columns)
        if written:
            NestedCall.objects.filter(run=run, seq__in=open_calls).update(status="cancelled", error=CUT_OFF)
    if written:
        log.warning("run %s was interrupted: its worker is gone", run.id)
        poke(run_id=run.id, session_id=run.session_id, ended=True)
    return written


def _kept_output(run: Run) -> dict[str, object]:
    """Head and tail of what was printed, from the file if there is one, else from the journal."""
    columns: dict[str, object] = {}
    for stream in ("stdout", "stderr"):
        text = _whole_text(run, stream)
        columns |= {
            f"{stream}_head": text[:PART_CHARS],
            f"{stream}_tail": text[PART_CHARS:][-PART_CHARS:],
            f"{stream}_chars": max(len(text), getattr(run, f"{stream}_chars")),
        }
    return columns


def _whole_text(run: Run, stream: str) -> str:
    path = path_of(run.id, stream)
    if path.exists():
        return path.read_text(encoding="utf-8", errors="replace")
    events = run.events.filter(kind="output").order_by("seq")
    return "".join(event.data["text"] for event in events if event.data["stream"] == stream)
