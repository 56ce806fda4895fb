"""Rows for tests, as the core would have written them."""

from __future__ import annotations

from typing import Any

from runs.journal import Entry, insert
from runs.models import Run, Session

LIMITS = {
    "timeoutMs": 30_000,
    "memoryBytes": 33_554_432,
    "stackBytes": 262_144,
    "maxToolCalls": 50,
    "maxConcurrency": 4,
    "maxOutputChars": 16_000,
    "maxStateBytes": 524_288,
}


def queued_run(session: Session, **fields: Any) -> Run:
    """A run that waits, with its first event."""
    fields = {"tool": "js_run", "door": "api", "code": "return 1", "limits": LIMITS, "backend": "quickjs"} | fields
    run = Run.objects.create(session=session, requested_by=session.owner, isolation="isolated", last_seq=1, **fields)
    insert(run, [Entry(kind="queued", data={"tool": run.tool})], first_seq=1)
    return run
