"""Who runs next: fair among sessions, first in first out within one, at most `slots` at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count
from django.utils import timezone

from runs import journal
from runs.journal import Entry
from runs.models import QueueLock, Run, Session
from runs.state import dump
from runs.writing import write
from sandboxes.errors import QueueFull

WAITING = ("queued", "awaiting_approval")


# These run on every run's path, where the ORM takes longer to build such a statement than the database to answer it.
_WAITING_SQL = """
SELECT COUNT(*), SUM(CASE WHEN session_id = %s THEN 1 ELSE 0 END)
FROM runs_run WHERE status IN ('queued', 'awaiting_approval')
"""
_LINE_SQL = """
SELECT run.status, run.session_id, session.last_claimed_at, MIN(run.number), COUNT(*)
FROM runs_run run JOIN runs_session session ON session.id = run.session_id
WHERE run.status IN ('queued', 'running')
GROUP BY run.status, run.session_id, session.last_claimed_at
"""
_ANY_SQL = "SELECT 1 FROM runs_run WHERE status = 'queued' LIMIT 1"


def _rows(sql: str, *parameters: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def require_room(*, session: Session, max_per_session: int, max_total: int) -> int:
    """Give how many runs wait; refuse one more when its session's line or the whole queue is full."""
    ((total, mine),) = _rows(_WAITING_SQL, session.pk)
    if (mine or 0) >= max_per_session:
        raise QueueFull(
            f"{mine} runs of this session wait already; at most {max_per_session} may.",
            limit="forge.queue.maxPerSession",
        )
    if total >= max_total:
        raise QueueFull(f"{total} runs wait already; at most {max_total} may.", limit="forge.queue.maxTotal")
    return int(total)


@dataclass(frozen=True, kw_only=True)
class _Line:
    """Who runs and who waits, from one query."""

    running: Counter[str]
    waiting: list[tuple[str, int, str]]

    def best_first(self) -> list[tuple[int, str, int, str]]:
        """The waiting sessions, best claim first: fewest running, then longest unserved, then oldest request."""
        return sorted((self.running[session], last, first, session) for last, first, session in self.waiting)


def _line() -> _Line:
    running: Counter[str] = Counter()
    waiting = []
    for status, session, last, first, count in _rows(_LINE_SQL):
        if status == "running":
            running[session] = count
        else:
            # Either database's own form of a time sorts as text; never served sorts first.
            waiting.append((str(last or ""), first, session))
    return _Line(running=running, waiting=waiting)


def is_waiting() -> bool:
    """Whether any run waits; cheaper than a claim."""
    return bool(_rows(_ANY_SQL))


def claim_next(*, worker_id: str, slots: int) -> Run | None:
    """Take the run whose turn it is and mark it running; None when nothing waits or every slot is taken."""
    with write():
        if connection.features.has_select_for_update:
            QueueLock.objects.select_for_update().get_or_create(pk=1)
        line = _line()
        if not line.waiting or line.running.total() >= slots:
            return None
        for _, _, number, _ in line.best_first():
            run = _claim(number, worker_id=worker_id)
            if run is not None:
                return run
    return None


def _claim(number: int, *, worker_id: str) -> Run | None:
    run = Run.objects.select_related("session").get(pk=number)
    now = timezone.now()
    changes = {
        "status": Run.Status.RUNNING,
        "started_at": now,
        "worker": worker_id,
        "clock_ms": int(now.timestamp() * 1000),
        "state_before": dump(run.session.state) if _state_is_on(run) else None,
    }
    data = {"backend": run.backend, "isolation": run.isolation, "reason": run.reason, "engine": run.engine}
    started = Entry(kind="started", data=data, at=now)
    if not journal.append(run, [started], only_if=["queued"], **changes):
        return None
    for name, value in changes.items():
        setattr(run, name, value)
    Session.objects.filter(pk=run.session_id).update(last_claimed_at=now)
    return run


def _state_is_on(run: Run) -> bool:
    return "maxStateBytes" in run.limits


def counts(session: Session | None = None) -> dict[str, int]:
    """How many runs are active, by status; of one session when given."""
    rows = Run.objects.filter(status__in=("running", *WAITING))
    if session is not None:
        rows = rows.filter(session=session)
    found = dict(rows.values_list("status").annotate(n=Count("pk")))
    return {status: found.get(status, 0) for status in ("running", *WAITING)}


def position(run: Run) -> int | None:
    """The run's place in line, 1 being next; None when it does not wait.

    Follows the claim's own order: sessions take turns, so a run is ahead when its turn comes first.
    """
    return positions([run]).get(run.pk)


def positions(runs: Iterable[Run]) -> dict[int, int]:
    """The places in line of several runs, by number."""
    wanted = {run.pk for run in runs if run.status == "queued"}
    if not wanted:
        return {}
    line = [number for number, _ in line_up()]
    return {number: place for place, number in enumerate(line, start=1) if number in wanted}


def line_up() -> list[tuple[int, str]]:
    """Every queued run's `(number, session)` in the order in which they will be claimed."""
    order = _line().best_first()
    by_session: dict[str, list[int]] = {}
    for number, session in Run.objects.filter(status="queued").order_by("number").values_list("number", "session_id"):
        by_session.setdefault(session, []).append(number)
    # Each claim raises its session's count of running runs by one, so sessions interleave by that count.
    turns = [
        (running + turn, last, first, number, session)
        for running, last, first, session in order
        for turn, number in enumerate(by_session.get(session, ()))
    ]
    return [(number, session) for *_, number, session in sorted(turns)]
