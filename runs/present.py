"""A run, its events and its calls as the JSON of the contract."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from runs import blobs, queue
from runs.models import NestedCall, Run, RunEvent
from runs.output import budgets, output_parts
from runs.present_figures import figure_json, figures_json

ARGS_PREVIEW_CHARS = 2_000


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC with milliseconds and Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_json(run: Run, calls: Iterable[NestedCall] | None = None) -> dict[str, Any]:
    """Everything about one run; what was not measured or does not apply is absent."""
    body = run_summary(run) | {
        "code": run.code,
        "codePath": run.code_path or None,
        "codeSha256": run.code_sha256,
        "args": json.loads(run.args_json),
        "limits": run.limits,
        "controls": run.controls,
        "hint": run.hint or None,
        "calls": calls_json(run, calls),
        "output": _text_json(run, "stdout"),
        "stderr": _text_json(run, "stderr"),
        "lossy": run.lossy or None,
        "artifacts": [],
        "metrics": figures_json(run.metrics) if run.metrics else None,
    }
    if run.value_json is not None and run.status == Run.Status.SUCCEEDED:
        body["value"] = json.loads(run.value_json)
    return {key: value for key, value in body.items() if value is not None or key == "value"}


def run_summary(run: Run, places: Mapping[int, int] | None = None) -> dict[str, Any]:
    """The light part of a run, without its payloads: what lists carry, with their `places` in line read at once."""
    body = {
        "id": run.id,
        "session": run.session_id,
        "tool": run.tool,
        "title": run.title or None,
        "status": run.status,
        "createdAt": iso(run.created_at),
        "startedAt": iso(run.started_at),
        "finishedAt": iso(run.finished_at),
        "engine": run.engine,
        "backend": run.backend or None,
        "isolation": run.isolation or None,
        "reason": run.reason or None,
        "progress": figures_json(run.progress) if run.progress else None,
        "error": run.error,
        "cancelRequestedAt": iso(run.cancel_requested_at),
        "queue": queue_json(run, places),
    }
    return {key: value for key, value in body.items() if value is not None}


def queue_json(run: Run, places: Mapping[int, int] | None = None) -> dict[str, int] | None:
    place = queue.position(run) if places is None else places.get(run.pk)
    return None if place is None else {"position": place}


def calls_json(run: Run, calls: Iterable[NestedCall] | None = None) -> dict[str, Any]:
    """The counts, and every call in the order it was asked for."""
    if calls is None:
        calls = run.calls.defer("result_json").order_by("seq") if run.calls_started else ()
    return {
        "started": run.calls_started,
        "finished": run.calls_finished,
        "refused": run.calls_refused,
        "items": [call_json(call) for call in calls],
    }


def call_json(call: NestedCall, *, full: bool = False) -> dict[str, Any]:
    """A nested call; in `full`, with its whole stored arguments and result."""
    arguments = blobs.load(call.arguments_sha256, call.arguments_json)
    body: dict[str, Any] = {"seq": call.seq, "tool": call.tool, "status": call.status}
    body["args"] = _args(arguments, full=full)
    if call.duration_ms is not None:
        body["durationMs"] = figure_json("durationMs", call.duration_ms)
    if call.error:
        body["error"] = call.error
    body["bytes"] = call.bytes
    if full:
        body["startedAt"] = iso(call.started_at)
        body["argumentsSha256"] = call.arguments_sha256
        if call.late_at:
            body["lateAt"] = iso(call.late_at)
        result = blobs.load(call.result_sha256, call.result_json)
        if result is not None:
            body["result"] = json.loads(result)
            body["resultSha256"] = call.result_sha256
    return body


def _args(arguments: str | None, *, full: bool) -> Any:
    if arguments is None:
        return None
    if full or len(arguments) <= ARGS_PREVIEW_CHARS:
        return json.loads(arguments)
    return {"preview": arguments[:ARGS_PREVIEW_CHARS], "bytes": len(arguments.encode("utf-8", "replace"))}


def event_json(event: RunEvent) -> dict[str, Any]:
    """`{seq, at, kind, …}`; the arguments of a call as the run gives them."""
    body = figures_json(event.data)
    if event.kind == RunEvent.Kind.CALL_STARTED:
        body["args"] = _event_args(body.get("args"), size=body.pop("argsBytes", None))
    return {"seq": event.seq, "at": iso(event.at), "kind": event.kind} | body


def _event_args(start: Any, *, size: int | None) -> Any:
    """The decoded arguments when the journal holds them whole, else their start and, where it is known, their size."""
    if size is None and isinstance(start, str):
        # Journals of before sizes were kept: the start of an object never decodes.
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(start)
    return {"preview": start} | ({} if size is None else {"bytes": size})


def _text_json(run: Run, stream: str) -> dict[str, Any]:
    parts = output_parts(run, stream, budgets(run)[stream])
    return {"text": parts.text, "chars": parts.chars, "omitted": parts.omitted}
