"""The rows behind cards: with a bounded start of what may be large, and nothing else of it."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet
from django.db.models.functions import Length, Substr

from runs.figures import ARGS_CHARS
from runs.models import NestedCall, Run, RunEvent, Session

CODE_CHARS = 12_000
VALUE_CHARS = 64 * 1024
MAX_WAITS = 500


def rows(session: Session | None = None) -> QuerySet[Run]:
    """Runs with what cards need and no more: of code and value only a bounded start."""
    found = Run.objects.filter(session=session) if session is not None else Run.objects.all()
    return (
        found.select_related("session", "requested_by")
        .defer("code", "args_json", "value_json", "state_before", "state_after")
        .annotate(
            code_start=Substr("code", 1, CODE_CHARS),
            code_chars=Length("code"),
            value_start=Substr("value_json", 1, VALUE_CHARS),
            value_chars=Length("value_json"),
        )
    )


def calls_of(run: Run, *, most: int, seqs: Sequence[int] | None = None) -> Sequence[NestedCall]:
    """The last `most` calls (or those named), oldest first, without their payloads."""
    found = (
        NestedCall.objects.filter(run=run)
        .defer("arguments_json", "result_json")
        .annotate(arguments_start=Substr("arguments_json", 1, ARGS_CHARS + 1))
    )
    if seqs is not None:
        return list(found.filter(seq__in=seqs).order_by("seq"))
    return list(found.order_by("-seq")[:most])[::-1]


def waits_of(run: Run) -> dict[int, float]:
    """How long ended calls had waited for a slot, by call, in milliseconds; of the last 500."""
    ended = RunEvent.objects.filter(run=run, kind="call_finished", seq__lte=run.last_seq).order_by("-seq")
    return waits_in(list(ended[:MAX_WAITS]))


def waits_in(events: Sequence[RunEvent]) -> dict[int, float]:
    return {
        event.data["call"]: float(event.data["queuedMs"])
        for event in events
        if event.kind == "call_finished" and "queuedMs" in event.data
    }
