"""A run's nested calls: who may start, in which order they settle, and what is told about each.

Every method is called under the run's lock; the tools themselves run in threads that are kept. What a tool answers
after its call was closed changes nothing.
"""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandboxes.base import (
    MAX_DEPTH,
    MAX_TOOL_RESULT_BYTES,
    CallFinished,
    CallStarted,
    CallStatus,
    Event,
    Host,
    Limits,
    StopSignal,
    ToolCall,
)
from sandboxes.errors import Cancelled, ForjaError, Internal, ToolLimit, ToolResultTooLarge
from sandboxes.quickjs.bounds import CallRequest, depth_of
from sandboxes.quickjs.threads import TOOL_THREADS

log = logging.getLogger(__name__)

# Codes of calls that never reached a tool because they may not.
_REFUSALS = frozenset(("TOOL_LIMIT", "PERMISSION_DENIED", "APPROVAL_REQUIRED", "NOT_CALLABLE"))


class Settle(Protocol):
    def __call__(self, *, call_id: int, ok: bool, payload: bytes, clock_ms: int) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What a tool gave: a JSON text, or the error."""

    call_id: int
    result_json: str | None = None
    payload: bytes = b""
    error: ForjaError | None = None


@dataclass(kw_only=True)
class _Call:
    request: CallRequest
    asked_at: float
    stop: StopSignal = field(default_factory=StopSignal)
    started_at: float | None = None


class Calls:
    """`answer` is called by a tool's thread with what it gave; `settle` answers the script and never blocks."""

    def __init__(
        self,
        *,
        host: Host,
        limits: Limits,
        clock: Callable[[], int],
        settle: Settle,
        answer: Callable[[Answered], None],
        emit: Callable[[Event], None],
    ) -> None:
        self._host = host
        self._limits = limits
        self._clock = clock
        self._settle = settle
        self._answer = answer
        self._emit = emit
        self._open: dict[int, _Call] = {}
        self._waiting: deque[int] = deque()
        self._to_start: deque[_Call] = deque()
        self._running = 0
        self._accepted = 0
        self.refused = 0

    def in_flight(self) -> list[int]:
        return list(self._open)

    def ask(self, request: CallRequest) -> None:
        """Take a call the script asked for: start it, queue it, or refuse it."""
        call = _Call(request=request, asked_at=time.monotonic())
        self._emit(CallStarted(seq=request.call_id, tool=request.tool, arguments_json=request.arguments_json))
        self._open[request.call_id] = call
        if self._accepted >= self._limits.max_tool_calls:
            self.refused += 1
            self._finish(call, Answered(call_id=request.call_id, error=self._limit_error(request)))
            return
        self._accepted += 1
        self._waiting.append(request.call_id)
        self._start_waiting()

    def answered(self, answer: Answered) -> None:
        """Take a tool's answer, give it to the script, start the next in line."""
        call = self._open.get(answer.call_id)
        if call is None:
            return
        self._running -= 1
        self._finish(call, answer)
        self._start_waiting()

    def launch(self) -> None:
        """Start the tools whose turn has come. Called after the run's lock was let go: their threads wake at once."""
        while True:
            try:
                call = self._to_start.popleft()
            except IndexError:
                return
            if call.stop.is_set():
                continue
            TOOL_THREADS.run(lambda call=call: self._answer(_run_tool(self._host, call)))  # type: ignore[misc]

    def close(self, call_ids: list[int]) -> None:
        """Stop these calls and report them as cancelled; their tools may take as long as they like."""
        for call_id in call_ids:
            if (call := self._open.pop(call_id, None)) is not None:
                self._cancel(call)

    def hold(self) -> None:
        """Start no more calls: the script has ended."""
        self._waiting.clear()
        self._to_start.clear()

    # ── One call ───────────────────────────────────────────────────────────────────────────────

    def _start_waiting(self) -> None:
        while self._waiting and self._running < self._limits.max_concurrency:
            call = self._open.get(self._waiting.popleft())
            if call is None:
                continue
            self._running += 1
            call.started_at = time.monotonic()
            self._to_start.append(call)

    def _finish(self, call: _Call, answer: Answered) -> None:
        del self._open[answer.call_id]
        clock_ms, ok = self._clock(), answer.error is None
        error = None if answer.error is None else told(answer.error)
        payload = answer.payload if error is None else _json_bytes(error)
        self._settle(call_id=answer.call_id, ok=ok, payload=payload, clock_ms=clock_ms)
        self._report(call, status=_status(answer), clock_ms=clock_ms, result_json=answer.result_json, error=error)

    def _cancel(self, call: _Call) -> None:
        try:
            call.stop.request()
        except Exception:
            log.exception("a tool's stop failed")
        error = told(Cancelled("The run ended before this call did.", hint="The tool may still be finishing."))
        self._report(call, status="cancelled", clock_ms=self._clock(), error=error)

    def _report(
        self,
        call: _Call,
        *,
        status: CallStatus,
        clock_ms: int,
        result_json: str | None = None,
        error: dict[str, Any] | None = None,
    ) -> None:
        now, started = time.monotonic(), call.started_at
        self._emit(
            CallFinished(
                seq=call.request.call_id,
                status=status,
                clock_ms=clock_ms,
                duration_ms=None if started is None else (now - started) * 1000,
                queued_ms=((started or now) - call.asked_at) * 1000,
                result_json=result_json,
                error=error,
            )
        )

    def _limit_error(self, request: CallRequest) -> ToolLimit:
        most = self._limits.max_tool_calls
        return ToolLimit(f"{request.tool}: this run may make {most} nested calls and has made them", limit=most)


def told(error: ForjaError) -> dict[str, Any]:
    """What the script and the journal learn of a failed call."""
    return {"code": error.code, "message": error.message, "hint": error.hint}


def _run_tool(host: Host, call: _Call) -> Answered:
    """Run one call in its thread; whatever happens there becomes an answer."""
    call_id, request = call.request.call_id, call.request
    try:
        result = host.call_tool(
            ToolCall(seq=call_id, tool=request.tool, arguments_json=request.arguments_json, stop=call.stop)
        )
        payload = result.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape
        _check_result(request.tool, payload)
        return Answered(call_id=call_id, result_json=result, payload=payload)
    except ForjaError as error:
        return Answered(call_id=call_id, error=error)
    except BaseException:
        log.exception("the tool %s failed inside Forja", request.tool)
        return Answered(call_id=call_id, error=Internal(f"{request.tool}: something in Forja failed"))


def _check_result(tool: str, payload: bytes) -> None:
    if len(payload) > MAX_TOOL_RESULT_BYTES:
        raise ToolResultTooLarge(
            f"{tool}: the result is {len(payload):,} bytes; at most {MAX_TOOL_RESULT_BYTES:,} are taken",
            limit=MAX_TOOL_RESULT_BYTES,
        )
    if depth_of(payload) > MAX_DEPTH:
        raise ToolResultTooLarge(f"{tool}: the result is nested deeper than {MAX_DEPTH} levels", limit=MAX_DEPTH)


def _status(answer: Answered) -> CallStatus:
    if answer.error is None:
        return "succeeded"
    return "refused" if answer.error.code in _REFUSALS else "failed"


def _json_bytes(error: dict[str, Any]) -> bytes:
    return json.dumps(error).encode()
