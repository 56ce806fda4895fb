"""Writes what a worker would write about one run: rows and events together, then the poke."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from runs.card_rows import rows
from runs.cards import Card, Viewer
from runs.journal import Entry, append
from runs.models import NestedCall, Session
from runs.pokes import poke
from runs.rendering import card_html, part_html
from tests.runs.factories import queued_run

CODE = 'const a = await tools.read_file({ path: "a.txt" });\nconst b = a.text.\n  length;\nreturn b; // done\n'


class Scribe:
    """One run and its story, told event by event."""

    def __init__(self, session: Session, **fields: Any) -> None:
        self.run = queued_run(session, **({"code": CODE, "title": "Read a file", "door": "page"} | fields))

    def _write(
        self, *entries: Entry, ended: bool = False, calls: tuple[NestedCall, ...] = (), **changes: Any
    ) -> Scribe:
        with transaction.atomic():
            append(self.run, entries, **changes)
            for call in calls:
                call.save()
        self.run.refresh_from_db()
        poke(run_id=self.run.id, session_id=self.run.session_id, ended=ended)
        return self

    def starts(self, *, seconds_ago: float = 0) -> Scribe:
        at = timezone.now() - timedelta(seconds=seconds_ago)
        return self._write(Entry(kind="started", data={"backend": "quickjs"}), status="running", started_at=at)

    def prints(self, text: str, stream: str = "stdout", omitted: int = 0) -> Scribe:
        data: dict[str, Any] = {"stream": stream, "text": text, "offset": 0}
        data |= {"omitted": omitted} if omitted else {}
        field = f"{stream}_chars"
        return self._write(Entry(kind="output", data=data), **{field: getattr(self.run, field) + len(text) + omitted})

    def reports(self, note: str, completed: float, total: float) -> Scribe:
        progress = {"note": note, "completed": completed, "total": total}
        return self._write(Entry(kind="progress", data=progress), progress=progress)

    def calls(self, tool: str, **arguments: Any) -> Scribe:
        seq = self.run.calls_started + 1
        call = NestedCall(run=self.run, seq=seq, tool=tool, offset_ms=seq, arguments_json=json.dumps(arguments))
        entry = Entry(
            kind="call_started", data={"call": seq, "tool": tool, "args": call.arguments_json, "offsetMs": seq}
        )
        return self._write(entry, calls=(call,), calls_started=seq)

    def settles(self, seq: int, status: str = "succeeded", **fields: Any) -> Scribe:
        call = NestedCall.objects.get(run=self.run, seq=seq)
        call.status, call.duration_ms, call.bytes = status, 5.0, 2_048
        for name, value in fields.items():
            setattr(call, name, value)
        data = {"call": seq, "status": status, "clockMs": 1, "durationMs": 5.0, "queuedMs": 0.5}
        counted = "calls_refused" if status == "refused" else "calls_finished"
        return self._write(
            Entry(kind="call_finished", data=data), calls=(call,), **{counted: getattr(self.run, counted) + 1}
        )

    def is_asked_to_stop(self, by: str = "owner") -> Scribe:
        return self._write(Entry(kind="cancel_requested", data={"by": by}), cancel_requested_at=timezone.now())

    def ends(self, status: str = "succeeded", **changes: Any) -> Scribe:
        columns = {"status": status, "finished_at": timezone.now(), "metrics": {"durationMs": 361.2}} | changes
        return self._write(Entry(kind="finished", data={"status": status}), ended=True, **columns)

    # ── What people see ─────────────────────────────────────────────────────────────────────────

    def card(self, *, full: bool = False, user: Any = None) -> Card:
        row = rows().get(pk=self.run.pk)
        return Card(run=row, viewer=Viewer(user=user or row.session.owner, full=full))

    def html(self, **options: Any) -> str:
        return str(card_html(self.card(**options)))

    def page_html(self) -> str:
        return str(part_html(self.card(full=True), "body"))
