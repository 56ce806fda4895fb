"""The journal: events appended gaplessly, per run, in the transaction that changes the row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from runs import statements
from runs.models import Run, RunEvent


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An event before it has its number."""

    kind: str
    data: dict[str, Any] = field(default_factory=dict)
    at: datetime = field(default_factory=timezone.now)


def append(run: Run, entries: Sequence[Entry], *, only_if: Iterable[str] | None = None, **changes: Any) -> bool:
    """Write entries and row changes together; False (and nothing written) when the status is none of `only_if`.

    Must run inside a transaction. The update of `last_seq` locks the row, so numbers stay gapless
    whichever process writes. `run.last_seq` follows.
    """
    last = statements.advance_run(run, by=len(entries), statuses=only_if or (), changes=changes)
    if last is None:
        return False
    if entries:
        insert(run, entries, first_seq=last - len(entries) + 1)
    run.last_seq = last
    return True


def insert(run: Run, entries: Sequence[Entry], *, first_seq: int) -> None:
    """Write entries whose numbers the caller holds already."""
    statements.insert_events(
        run, [(seq, entry.at, entry.kind, entry.data) for seq, entry in enumerate(entries, start=first_seq)]
    )


def events_after(run: Run, seq: int, limit: int | None = None) -> list[RunEvent]:
    """The events that follow `seq`, in order."""
    rows = RunEvent.objects.filter(run=run, seq__gt=seq).order_by("seq")
    return list(rows[:limit] if limit else rows)
