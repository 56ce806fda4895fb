"""The one place where a run gets its terminal status."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from runs import journal, state
from runs.journal import Entry
from runs.models import Run
from runs.output import text_for_model
from runs.recorder import Recorder
from runs.requests import storable
from runs.writing import write
from sandboxes.base import Outcome
from sandboxes.errors import (
    Cancelled,
    DiskLimit,
    ForjaError,
    FuelLimit,
    Interrupted,
    MemoryLimit,
    OutputLimit,
    ProcessLimit,
    QuotaExceeded,
    StackLimit,
    StateConflict,
    StateLimit,
    Timeout,
)

LIMIT_ERRORS = (
    Timeout,
    MemoryLimit,
    StackLimit,
    OutputLimit,
    DiskLimit,
    ProcessLimit,
    FuelLimit,
    QuotaExceeded,
    StateLimit,
)


def status_of(error: ForjaError | None) -> str:
    match error:
        case None:
            return Run.Status.SUCCEEDED
        case Timeout():
            return Run.Status.TIMED_OUT
        case Cancelled():
            return Run.Status.CANCELLED
        case Interrupted():
            return Run.Status.INTERRUPTED
        case _:
            return Run.Status.FAILED


def finish_running(run: Run, outcome: Outcome, recorder: Recorder) -> bool:
    """End a run that this process executes; False when it had been ended already."""
    ended: list[bool] = []

    def end(entries: list[Entry]) -> None:
        try:
            ended.append(_write(run, outcome, recorder, entries))
        except (StateConflict, StateLimit) as error:
            ended.append(_write(run, _failed(outcome, error), recorder, entries))

    recorder.finish(end)
    return ended[0]


def _failed(outcome: Outcome, error: ForjaError) -> Outcome:
    return Outcome(
        value_json=outcome.value_json, lossy=outcome.lossy, hint=outcome.hint, error=error, metrics=outcome.metrics
    )


def _write(run: Run, outcome: Outcome, recorder: Recorder, entries: list[Entry]) -> bool:
    """Write the last events, the merged state and the terminal row in one transaction."""
    error = outcome.error
    now = timezone.now()
    streams = recorder.streams
    payload: dict[str, Any] = {
        "value_json": outcome.value_json,
        "lossy": list(outcome.lossy),
        "hint": storable(outcome.hint or ""),
        "stdout_head": streams["stdout"].head,
        "stdout_tail": streams["stdout"].tail,
        "stderr_head": streams["stderr"].head,
        "stderr_tail": streams["stderr"].tail,
    }
    changes = recorder.row_changes() | terminal_columns(error, now) | payload
    for name, value in changes.items():
        setattr(run, name, value)
    changes["metrics"] = _metrics(run, outcome, recorder)
    if error is None and outcome.state_json is not None:
        changes["state_after"] = outcome.state_json
    with write():
        if error is None and outcome.state_json is not None and run.state_before is not None:
            state.merge(
                session_id=run.session_id,
                before_json=run.state_before,
                after_json=outcome.state_json,
                max_bytes=run.limits["maxStateBytes"],
            )
        finished = Entry(kind="finished", data=finished_data(error), at=now)
        written = journal.append(run, [*entries, finished], only_if=["running"], **changes)
        if written:
            recorder.save_calls()
    return written


def terminal_columns(error: ForjaError | None, now: Any) -> dict[str, Any]:
    body = None if error is None else _storable_error(error.as_dict())
    return {
        "status": status_of(error),
        "finished_at": now,
        "error": body,
        "error_code": error.code if error else "",
        "limit_hit": error.code if isinstance(error, LIMIT_ERRORS) else "",
    }


def finished_data(error: ForjaError | None) -> dict[str, Any]:
    """What the `finished` event says: the status, and the code and message of a failure."""
    data: dict[str, Any] = {"status": status_of(error)}
    return data | ({"code": error.code, "message": storable(error.message)[:500]} if error else {})


def _storable_error(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(key)): _storable_error(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_storable_error(item) for item in value]
    return value


def waiting_metrics(run: Run) -> dict[str, float]:
    """How long the run waited before it started, when it did start."""
    if run.started_at is None:
        return {}
    return {"queuedMs": round((run.started_at - run.created_at).total_seconds() * 1000, 3)}


def _metrics(run: Run, outcome: Outcome, recorder: Recorder) -> dict[str, float]:
    metrics: dict[str, float] = outcome.metrics | waiting_metrics(run)
    metrics["bytesThroughCalls"] = recorder.bytes_through_calls
    metrics["bytesToModel"] = sum(len(text.encode("utf-8", "replace")) for text in text_for_model(run))
    return metrics


def end_waiting(run: Run, error: ForjaError, entries: list[Entry]) -> bool:
    """End a run that never started (cancelled in the queue, approval denied or expired)."""
    now = timezone.now()
    with write():
        return journal.append(
            run,
            [*entries, Entry(kind="finished", data=finished_data(error), at=now)],
            only_if=["queued", "awaiting_approval"],
            **terminal_columns(error, now),
        )
