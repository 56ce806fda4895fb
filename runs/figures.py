"""Short forms of what a script reports: a call's arguments in a line, progress, a run's figures."""

from __future__ import annotations

import json
from typing import Any

from django.utils.translation import gettext as _

from runs import labels
from runs.models import Run

ARGS_CHARS = 200


def arguments_words(start: str | None) -> str:
    """A call's arguments in a line: the values of a small flat object, else the JSON itself."""
    if start is None:
        return "…"
    if len(start) > ARGS_CHARS:
        return start[:ARGS_CHARS] + "…"
    try:
        arguments = json.loads(start)
    except (ValueError, RecursionError):
        return start
    if not isinstance(arguments, dict):
        return start
    return ", ".join(value if isinstance(value, str) else json.dumps(value) for value in arguments.values())


def progress_view(progress: dict[str, Any]) -> dict[str, Any]:
    completed, total = (_number(progress.get(name)) for name in ("completed", "total"))
    view: dict[str, Any] = {"note": str(progress.get("note") or "")}
    if completed is not None:
        view["completed"] = _short_number(completed)
    if completed is not None and total is not None and total > 0:
        view |= {"total": _short_number(total), "permille": max(0, min(1_000, int(1_000 * completed / total)))}
    return view


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None


def _short_number(value: float) -> str:
    return labels.count(int(value)) if value == int(value) else labels.decimal(value, 2)


def figures(run: Run) -> list[tuple[str, str]]:
    """What was measured of a run, in words with units; what was not measured is absent."""
    rows = [
        (_("Duration"), "durationMs", labels.duration),
        (_("In the queue"), "queuedMs", labels.duration),
        (_("Engine ready in"), "startupMs", labels.duration),
        (_("Processor"), "cpuMs", labels.duration),
        (_("Peak memory"), "peakMemoryBytes", labels.size),
        (_("Through its calls"), "bytesThroughCalls", labels.size),
        (_("Sent to the model"), "bytesToModel", labels.size),
    ]
    measured = run.metrics if isinstance(run.metrics, dict) else {}
    return [(name, words(measured[key])) for name, key, words in rows if isinstance(measured.get(key), (int, float))]
