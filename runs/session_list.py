"""Sessions as lists show them: how many runs, what is active, how the last one ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from runs.models import Run, Session, User


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of a list of sessions."""

    session: Session
    counts: dict[str, int]
    run_count: int
    last_status: str
    last_at: datetime | None

    @property
    def id(self) -> str:
        return str(self.session.pk)

    @property
    def is_active(self) -> bool:
        return any(self.counts.values())


def entries(sessions: QuerySet[Session]) -> list[Entry]:
    """Each session with its counts, in the order given."""
    last = Run.objects.filter(session=OuterRef("pk")).order_by("-number")
    counted: Any = sessions.select_related("owner").annotate(
        run_count=Count("runs"),
        running=Count("runs", filter=Q(runs__status="running")),
        queued=Count("runs", filter=Q(runs__status="queued")),
        awaiting=Count("runs", filter=Q(runs__status="awaiting_approval")),
        last_status=Subquery(last.values("status")[:1]),
        last_at=Subquery(last.values("created_at")[:1]),
    )
    return [_entry(row) for row in counted]


def _entry(row: Any) -> Entry:
    return Entry(
        session=row,
        counts={"running": row.running, "queued": row.queued, "awaiting_approval": row.awaiting},
        run_count=row.run_count,
        last_status=row.last_status or "",
        last_at=row.last_at,
    )


def newest(user: User, *, most: int, before: str | None = None) -> tuple[list[Entry], str | None]:
    """The newest sessions this user may see, and the key of the page after them; ids sort by time."""
    found = Session.objects.visible_to(user).order_by("-id")
    if before:
        found = found.filter(id__lt=before)
    rows = entries(found[: most + 1])
    return rows[:most], rows[most - 1].id if len(rows) > most else None


def rail(user: User, session: Session, *, most: int) -> list[Entry]:
    """The newest sessions, and always the one that is open."""
    found = newest(user, most=most)[0]
    if all(entry.id != session.pk for entry in found):
        found += entries(Session.objects.filter(pk=session.pk))
    return found
