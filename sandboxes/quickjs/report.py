"""The guest's last word, read with suspicion: report JSON → Outcome.

The report is written by the prelude, but it crosses the border, so its size, depth, types and codes are checked here
and nothing in it is trusted to be more than text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from sandboxes.base import MAX_VALUE_BYTES, MIB, Limits, Outcome
from sandboxes.errors import (
    ForjaError,
    Internal,
    MemoryLimit,
    ResultNotSerializable,
    ResultTooLarge,
    SandboxError,
    StateLimit,
    all_errors,
)
from sandboxes.quickjs.failures import failure_of, visible_text
from sandboxes.quickjs.source import Source

MAX_REPORT_BYTES = 64 * MIB  # value and state as UTF-8, each at most three bytes for every one of 8 Mi characters
MAX_LOSSY_ROWS = 50
MAX_HINTS = 5
MAX_HINT_CHARS = 400

_GUEST_CODES = frozenset(
    (
        "SYNTAX_ERROR",
        "COMPILE_ERROR",
        "SCRIPT_ERROR",
        "UNHANDLED_REJECTION",
        "UNAWAITED_CALL",
        "DEADLOCK",
        "RESULT_NOT_SERIALIZABLE",
        "RESULT_TOO_LARGE",
        "STATE_NOT_SERIALIZABLE",
        "MEMORY_LIMIT",
        "STACK_LIMIT",
    )
)
_BY_CODE: dict[str, type[ForjaError]] = {code: cls for code, cls in all_errors().items() if code in _GUEST_CODES}


@dataclass(frozen=True, kw_only=True)
class OpenCalls:
    """The calls in flight when the report was made: `inflight` fail the run, `losers` are stopped quietly."""

    inflight: tuple[int, ...] = ()
    losers: tuple[int, ...] = ()


def read_open_calls(report_json: bytes) -> OpenCalls:
    """Give the ids of the calls still in flight at the end; none when the report cannot be read."""
    report = _parse(report_json)
    if not isinstance(report, dict):
        return OpenCalls()
    return OpenCalls(inflight=_ids(report.get("inflight")), losers=_ids(report.get("losers")))


def read_report(
    report_json: bytes, *, source: Source, limits: Limits, peak_memory_bytes: float | None = None
) -> Outcome:
    """Turn the guest's report into an Outcome without metrics; never raises on what a guest can write.

    `peak_memory_bytes` is the size the guest's memory grew to. A script that has no memory left even for the error
    that says so throws null; only the size tells that null from one the script threw itself.
    """
    if not report_json:  # the guest could not even copy its report out of its heap
        return Outcome(
            error=MemoryLimit("There was no memory left for the script's result.", limit=limits.memory_bytes)
        )
    if len(report_json) > MAX_REPORT_BYTES:
        return Outcome(
            error=ResultTooLarge("The result is larger than what a run may give back.", limit=MAX_VALUE_BYTES)
        )
    report = _parse(report_json)
    if isinstance(report, ForjaError):
        return Outcome(error=report)
    if report.get("ok") is True:
        return _success(report, limits=limits)
    is_full = peak_memory_bytes is not None and peak_memory_bytes >= limits.memory_bytes
    return _failure(report, source=source, limits=limits, is_full=is_full)


def json_text(value: Any) -> str:
    """Give strict JSON as valid Unicode: non-ASCII as it is, unless a lone surrogate forces escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text


def _parse(report_json: bytes) -> dict[str, Any] | ForjaError:
    try:
        report = json.loads(report_json, parse_constant=_refuse_constant)
    except RecursionError:
        return ResultNotSerializable("The result is nested too deeply.")
    except ValueError:
        return Internal("The sandbox gave a report that cannot be read.")
    return report if isinstance(report, dict) else Internal("The sandbox gave a report of the wrong shape.")


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _success(report: dict[str, Any], *, limits: Limits) -> Outcome:
    value_json, error = _value(report)
    if error is not None:
        return Outcome(error=error)
    lossy = _lossy(report.get("lossy"))
    state_json, error = _state(report.get("state"), limits=limits)
    hints = _hints(report)
    if report.get("returned") is False:
        hints.insert(0, _nothing_returned(report.get("calls")))
    hint = " ".join(hints) or None
    if error is not None:
        return Outcome(value_json=value_json, lossy=lossy, hint=hint, error=error)
    return Outcome(value_json=value_json, lossy=lossy, hint=hint, state_json=state_json)


def _failure(report: dict[str, Any], *, source: Source, limits: Limits, is_full: bool) -> Outcome:
    told = report.get("error")
    told = told if isinstance(told, dict) else {}
    cls = _BY_CODE.get(str(told.get("code")), _BY_CODE["SCRIPT_ERROR"])
    if is_full and told.get("name") == "null":
        cls = MemoryLimit
    value_json = _value(report)[0] if "value" in report else None
    error = failure_of(told, cls=cls, source=source, limits=limits, untouched=report.get("issued") == 0)
    return Outcome(value_json=value_json, hint=" ".join(_hints(report)) or None, error=error)


def _value(report: dict[str, Any]) -> tuple[str | None, SandboxError | None]:
    try:
        value_json = json_text(report.get("value"))
    except (RecursionError, ValueError):
        return None, ResultNotSerializable("The result is nested too deeply.")
    if (size := len(value_json.encode())) > MAX_VALUE_BYTES:
        return None, ResultTooLarge(
            f"The value is {size:,} bytes as JSON; at most {MAX_VALUE_BYTES:,} are kept.", limit=MAX_VALUE_BYTES
        )
    return value_json, None


def _state(state: Any, *, limits: Limits) -> tuple[str | None, SandboxError | None]:
    if not isinstance(state, dict):
        return None, None
    try:
        state_json = json_text(state)
    except (RecursionError, ValueError):
        return None, StateLimit("`state` is nested too deeply; it stays as it was.")
    if (size := len(state_json.encode())) > limits.max_state_bytes:
        return None, StateLimit(
            f"`state` would be {size:,} bytes; at most {limits.max_state_bytes:,} are kept. It stays as it was.",
            limit=limits.max_state_bytes,
        )
    return state_json, None


def _lossy(rows: Any) -> tuple[dict[str, str], ...]:
    if not isinstance(rows, list):
        return ()
    kept = (row for row in rows[:MAX_LOSSY_ROWS] if isinstance(row, dict))
    return tuple(
        {"path": visible_text(str(row.get("path")), 400), "kind": visible_text(str(row.get("kind")), 40)}
        for row in kept
    )


def _hints(report: dict[str, Any]) -> list[str]:
    hints = report.get("hints")
    if not isinstance(hints, list):
        return []
    return [visible_text(hint, MAX_HINT_CHARS) for hint in hints[:MAX_HINTS] if isinstance(hint, str)]


def _nothing_returned(calls: Any) -> str:
    n = calls if type(calls) is int and calls >= 0 else 0
    calls_words = "" if n == 0 else f"; {n} nested call{'s' if n > 1 else ''} succeeded"
    return f"The script returned no value{calls_words}. End with `return …` to give a result."


def _ids(ids: Any) -> tuple[int, ...]:
    return tuple(n for n in ids[:10_000] if type(n) is int) if isinstance(ids, list) else ()
