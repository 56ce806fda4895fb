"""One run as its caller sees it: starts the room, serves nested calls, passes events on, makes the outcome.

All that happens to a run arrives in one inbox and is handled in the caller's thread, so that events have one order.
"""

from __future__ import annotations

import dataclasses
import queue
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
from sandboxes.quickjs.order import OP_CALL, OP_OUTPUT, OP_PROGRESS, End, Message, Room, Running, order_of
from sandboxes.quickjs.report import read_open_calls, read_report
from sandboxes.quickjs.source import Source

# How long calls that nobody awaited may still settle, so that their own true end is told.
LAST_CALLS_SECONDS = 0.25


class Supervisor:
    """Runs one job in one room; use once."""

    def __init__(self, *, job: Job, source: Source, host: Host, room: Room) -> None:
        self._job = job
        self._source = source
        self._host = host
        self._room = room
        self._inbox: queue.SimpleQueue[list[Message] | Answered | End] = queue.SimpleQueue()
        self._started = time.monotonic()
        self._last_call_id = 0
        self._broke_protocol = False
        self._running: Running | None = None
        self._calls = Calls(
            host=host,
            limits=job.limits,
            clock=self._clock,
            settle=self._settle,
            answer=self._inbox.put,
            emit=host.emit,
        )

    # ── The inbox; called from any thread ──────────────────────────────────────────────────────

    def messages(self, batch: list[Message]) -> None:
        self._inbox.put(batch)

    def ended(self, end: End) -> None:
        self._inbox.put(end)

    # ── The run ────────────────────────────────────────────────────────────────────────────────

    def run(self) -> Outcome:
        order = order_of(job=self._job, source=self._source)
        self._started = time.monotonic()
        running = self._running = self._room.start(order, self)
        unsubscribe = self._host.stop.subscribe(lambda: running.stop("cancelled"))
        end: End | None = None
        try:
            end = self._serve()
        finally:
            unsubscribe()
            if end is None:
                self._abandon()
        return self._outcome(end)

    def _serve(self) -> End:
        """Handle what comes until the script has ended."""
        while True:
            match self._inbox.get():
                case End() as end:
                    return end
                case Answered() as answer:
                    self._calls.answered(answer)
                case batch:
                    self._handle(batch)

    def _abandon(self) -> None:
        """Something of ours failed: end the script and its calls before the failure travels on."""
        if self._running is not None:
            self._running.stop("cancelled")
        while not isinstance(self._inbox.get(), End):
            pass
        self._calls.hold()
        self._calls.close(self._calls.in_flight())

    def _handle(self, batch: list[Message]) -> None:
        if self._broke_protocol:
            return
        try:
            for op, payload in batch:
                self._handle_one(op, payload)
        except BadMessage:
            self._broke_protocol = True
            if self._running is not None:
                self._running.abort()

    def _settle(self, *, call_id: int, ok: bool, payload: bytes, clock_ms: int) -> None:
        if self._running is not None:
            self._running.settle(call_id=call_id, ok=ok, payload=payload, clock_ms=clock_ms)

    def _handle_one(self, op: int, payload: bytes) -> None:
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
        self._calls.hold()
        outcome = self._read(end)
        if self._calls.in_flight():
            self._end_calls(end, outcome)
        return dataclasses.replace(outcome, metrics={**end.metrics, **outcome.metrics})

    def _read(self, end: End) -> Outcome:
        if self._broke_protocol:
            return Outcome(error=Killed("The engine's process sent something that is not in its protocol."))
        if end.kind == "report":
            return read_report(end.report, source=self._source, limits=self._job.limits)
        return Outcome(error=self._error(end))

    def _end_calls(self, end: End, outcome: Outcome) -> None:
        """Stop the losers at once; let the forgotten ones of a failed run settle for a moment."""
        if isinstance(outcome.error, UnawaitedCall):
            open_calls = read_open_calls(end.report)
            self._calls.close(list(open_calls.losers))
            self._wait_for_calls(until=time.monotonic() + LAST_CALLS_SECONDS)
        self._calls.close(self._calls.in_flight())

    def _wait_for_calls(self, *, until: float) -> None:
        while self._calls.in_flight() and not self._host.stop.is_set():
            try:
                item = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return
            if isinstance(item, Answered):
                self._calls.answered(item)

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
            "large": lambda: ResultTooLarge("The result is larger than what a run may give back."),
            "start": lambda: CompileError(f"The engine could not start the script: {end.detail}"),
            "killed": lambda: Killed(end.detail or "The engine's process was ended from outside."),
        }
        return make.get(end.kind, lambda: Internal(f"The engine ended the script: {end.detail}"))()

    def _clock(self) -> int:
        """What the script's clock reads now, in Unix milliseconds."""
        return self._job.clock_ms + int((time.monotonic() - self._started) * 1000)
