"""One run as its caller sees it: starts the room, serves nested calls, passes events on, makes the outcome.

A tool's thread answers the script by itself and a batch of output is passed on by the thread that brought it: each
hand-over to another thread costs more than the work. One lock keeps all that happens to a run in one order.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable

from sandboxes.base import Event, Host, Job, Outcome, Output
from sandboxes.errors import (
    Cancelled,
    CompileError,
    ForjaError,
    Internal,
    Killed,
    MemoryLimit,
    ResultTooLarge,
    StackLimit,
    Timeout,
    UnawaitedCall,
)
from sandboxes.quickjs.bounds import BadMessage, read_call, read_progress, read_text
from sandboxes.quickjs.calls import Answered, Calls
from sandboxes.quickjs.failures import too_deep_to_compile
from sandboxes.quickjs.order import OP_CALL, OP_OUTPUT, OP_PROGRESS, End, Message, Room, order_of
from sandboxes.quickjs.report import read_open_calls, read_report
from sandboxes.quickjs.source import Source
from sandboxes.quickjs.threads import TOOL_THREADS

# How long calls that nobody awaited may still settle, so that their own true end is told.
LAST_CALLS_SECONDS = 0.25


class Supervisor:
    """Runs one job in one room; use once."""

    def __init__(self, *, job: Job, source: Source, host: Host, room: Room) -> None:
        self._job = job
        self._source = source
        self._host = host
        self._started = time.monotonic()
        self._changed = threading.Condition(threading.RLock())
        self._last_call_id = 0
        self._broke_protocol = False
        self._failure: Exception | None = None
        self._running = room.begin(order_of(job=job, source=source), self._take)
        self._calls = Calls(
            host=host,
            limits=job.limits,
            clock=self._clock,
            settle=self._running.settle,
            answer=self._answered,
            emit=host.emit,
        )

    def run(self) -> Outcome:
        running = self._running
        unsubscribe = self._host.stop.subscribe(lambda: running.stop("cancelled"))
        self._started = time.monotonic()
        end: End | None = None
        try:
            end = running.run()
        finally:
            unsubscribe()
            if end is None or self._failure is not None:
                self._close_calls()
        if self._failure is not None:
            raise self._failure
        return self._outcome(end)

    # ── While it runs ──────────────────────────────────────────────────────────────────────────

    def _take(self, batch: list[Message]) -> None:
        """Take what the script sent, in the thread that brings it."""
        with self._changed:
            if self._broke_protocol:
                return
            refused_before = self._calls.refused
            try:
                for op, payload in batch:
                    self._handle(op, payload)
            except BadMessage:
                self._broke_protocol = True
                self._running.abort()
            has_refused = self._calls.refused > refused_before
        self._calls.launch()
        if has_refused:
            # Not here: this thread may be the one that reads what the script sends, and must go on reading.
            TOOL_THREADS.run(self._running.deliver)

    def _answered(self, answer: Answered) -> None:
        """Take a tool's answer, in the tool's thread."""
        try:
            with self._changed:
                self._calls.answered(answer)
                self._changed.notify_all()
            self._calls.launch()
        except Exception as error:  # noqa: BLE001 - raised where the run was started
            self._failure = error
            self._running.stop("cancelled")
        self._running.deliver()

    def _handle(self, op: int, payload: bytes) -> None:
        if op == OP_OUTPUT:
            self._host.emit(Output(stream="stderr" if payload[:1] == b"e" else "stdout", text=read_text(payload[1:])))
        elif op == OP_PROGRESS:
            self._emit_progress(payload)
        elif op == OP_CALL:
            request = read_call(payload)
            if request.call_id <= self._last_call_id:
                raise BadMessage("a call's id came twice")
            self._last_call_id = request.call_id
            self._calls.ask(request)

    def _emit_progress(self, payload: bytes) -> None:
        try:
            event: Event = read_progress(payload)
        except BadMessage:
            return  # a step that cannot be read is no reason to end a run
        self._host.emit(event)

    # ── The end ────────────────────────────────────────────────────────────────────────────────

    def _outcome(self, end: End) -> Outcome:
        with self._changed:
            self._calls.hold()
            outcome = self._read(end)
            if self._calls.in_flight():
                self._end_calls(end, outcome)
        return dataclasses.replace(outcome, metrics={**end.metrics, **outcome.metrics})

    def _read(self, end: End) -> Outcome:
        if self._broke_protocol:
            return Outcome(error=Killed("The engine's process sent something that is not in its protocol."))
        if end.kind == "report":
            peak = end.metrics.get("peakMemoryBytes")
            return read_report(end.report, source=self._source, limits=self._job.limits, peak_memory_bytes=peak)
        return Outcome(error=self._error(end))

    def _end_calls(self, end: End, outcome: Outcome) -> None:
        """Stop the losers at once; let the forgotten ones of a failed run settle for a moment."""
        if isinstance(outcome.error, UnawaitedCall):
            self._calls.close(list(read_open_calls(end.report).losers))
            until = time.monotonic() + LAST_CALLS_SECONDS
            while self._calls.in_flight() and not self._host.stop.is_set():
                if not self._changed.wait(until - time.monotonic()):
                    break
        self._calls.close(self._calls.in_flight())

    def _close_calls(self) -> None:
        with self._changed:
            self._calls.hold()
            self._calls.close(self._calls.in_flight())

    def _error(self, end: End) -> ForjaError:
        limits = self._job.limits
        make: dict[str, Callable[[], ForjaError]] = {
            "timeout": lambda: Timeout(
                f"The script did not end within {limits.timeout_ms:,} ms.", limit=limits.timeout_ms
            ),
            "cancelled": lambda: Cancelled("The run was stopped."),
            "memory": lambda: MemoryLimit(
                f"The script ran out of memory: its heap may hold {limits.memory_bytes:,} bytes.",
                limit=limits.memory_bytes,
            ),
            "stack": lambda: StackLimit(
                f"The script ran out of stack: {limits.stack_bytes:,} bytes of nested calls are allowed.",
                limit=limits.stack_bytes,
            ),
            "nesting": too_deep_to_compile,
            "large": lambda: ResultTooLarge("The result is larger than what a run may give back."),
            "start": lambda: CompileError(f"The engine could not start the script: {end.detail}"),
            "killed": lambda: Killed(end.detail or "The engine's process was ended from outside."),
        }
        return make.get(end.kind, lambda: Internal(f"The engine ended the script: {end.detail}"))()

    def _clock(self) -> int:
        """What the script's clock reads now, in Unix milliseconds."""
        return self._job.clock_ms + int((time.monotonic() - self._started) * 1000)
