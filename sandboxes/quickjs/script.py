"""Drives one script in one VM, from its start to its confirmed end, in the thread that calls `run`."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

import wasmtime

from sandboxes.errors import MemoryLimit
from sandboxes.quickjs.answers import Answer, Answers
from sandboxes.quickjs.order import (
    MAX_MESSAGE_BYTES,
    MAX_REPORT_BYTES,
    OP_CALL,
    OP_COMPILED,
    End,
    EndKind,
    Message,
    Order,
    StopReason,
)
from sandboxes.quickjs.outbox import Outbox
from sandboxes.quickjs.vm import REFUSED, VM, Slot
from sandboxes.quickjs.watchdog import WATCHDOG, Alarm

# A stop is repeated until it is confirmed: a tick that comes while no wasm runs must not be the only one.
REPEAT_SECONDS = 0.05
# A script that keeps calling past its limit is told so by the call itself from here on, without an event.
REFUSED_CALLS = 1000

# As the prelude begins every call.
_CALL_ID = re.compile(rb'\{"id":([1-9][0-9]{0,8}),"tool":')

_PENDING, _FULFILLED, _MORE, _REFUSED = 0, 1, 3, -2


class Stopped(Exception):
    """A stop was asked for; which one, `Script.reason` says."""


class Ended(Exception):
    """The script ended without a report."""

    def __init__(self, kind: EndKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class Script:
    """One run. `stop` may come from any thread; nothing of the script runs after `run` returned or raised."""

    def __init__(self, *, slot: Slot, order: Order, answers: Answers, deliver: Callable[[list[Message]], None]) -> None:
        self.reason: StopReason | None = None
        self._slot = slot
        self._order = order
        self._outbox = Outbox(deliver=deliver)
        self._answers = answers
        self._stopping = threading.Lock()
        self._vm: VM | None = None
        self._is_compiled = False
        self._calls = 0
        self._in_flight = 0
        self._metrics: dict[str, float] = {}

    def stop(self, reason: StopReason) -> None:
        """End the script, whatever it does; the first reason counts."""
        with self._stopping:
            if self.reason is not None:
                return
            self.reason = reason
        self._interrupt()
        self._answers.wake()

    def run(self) -> End:
        """Run to the end. The VM is not entered again; `clear` gives it back, when the end has been told."""
        began, cpu_began = time.monotonic(), time.thread_time()
        try:
            vm = self._vm = self._slot.open(heap_bytes=self._order.heap_bytes, send=self._sent)
        except wasmtime.WasmtimeError as error:
            return End(kind="start", detail=_last_line(error))
        try:
            end = self._run_in(vm, began=began)
        finally:
            self._slot.publish(None)
        self._outbox.flush()
        self._metrics["cpuMs"] = (time.thread_time() - cpu_began) * 1000
        return End(kind=end.kind, report=end.report, detail=end.detail, metrics=self._metrics | self._outbox.dropped())

    def warm_up(self) -> None:
        """Run as a new slot's first script: what is loaded lazily is then loaded, and the slot knows its VMs."""
        self.run()
        if self._vm is not None:
            self._slot.learn(self._vm)
        self.clear()

    def clear(self) -> None:
        """Throw the VM away and make the slot's next one."""
        if self._vm is not None:
            self._slot.retire(self._vm)
            self._vm = None

    # ── In the VM ──────────────────────────────────────────────────────────────────────────────

    def _run_in(self, vm: VM, *, began: float) -> End:
        alarm: Alarm | None = None
        started = began
        try:
            self._slot.publish(self)
            started = time.monotonic()
            self._metrics["startupMs"] = (started - began) * 1000
            alarm = WATCHDOG.arm(started + self._order.timeout_ms / 1000, self._time_out)
            self._raise_if_stopped()
            return End(kind="report", report=self._report(vm))
        except Stopped:
            return self._stopped_end()
        except Ended as end:
            return self._stopped_end() if self.reason else End(kind=end.kind, detail=end.detail)
        except MemoryLimit as error:
            return self._stopped_end() if self.reason else End(kind="memory", detail=error.message)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            return self._stopped_end() if self.reason else self._trap_end(vm, error)
        finally:
            if alarm is not None:
                alarm.disarm()
            self._metrics["durationMs"] = (time.monotonic() - started) * 1000
            self._metrics["peakMemoryBytes"] = float(vm.memory_bytes())

    def _report(self, vm: VM) -> bytes:
        state = self._begin(vm)
        while True:
            self._raise_if_stopped()
            if state == _FULFILLED:
                return self._result(vm)
            if state == _PENDING:
                self._outbox.flush()
                if not self._in_flight:
                    return self._deadlock_report(vm)
                state = self._take_answer(vm)
            elif state == _MORE:
                state = vm.call("fj_pump")
            else:
                raise self._broken(vm)

    def _begin(self, vm: VM) -> int:
        order = self._order
        code = vm.put(order.code + order.init)
        init = code + len(order.code)
        limits = (order.heap_bytes, order.stack_bytes, float(order.clock_ms))
        return vm.call("fj_run", code, len(order.code), init, len(order.init), *limits)

    def _take_answer(self, vm: VM) -> int:
        """Wait for one answer and give it to the script. One at a time, so that their order decides everything."""
        answer = self._answers.wait()
        self._raise_if_stopped()
        if answer is None:
            return _PENDING
        self._in_flight -= 1
        state = self._give(vm, answer)
        if state != _REFUSED:
            return state
        told = b'{"code":"TOOL_RESULT_TOO_LARGE","message":"the result does not fit into the script\'s memory"}'
        return self._give(vm, answer._replace(ok=False, payload=told))

    def _give(self, vm: VM, answer: Answer) -> int:
        try:
            pointer = vm.put(answer.payload)
        except MemoryLimit:
            if not answer.ok:
                raise
            return _REFUSED
        length, clock_ms = len(answer.payload), float(answer.clock_ms)
        return vm.call("fj_settle", answer.call_id, int(answer.ok), pointer, length, clock_ms)

    def _deadlock_report(self, vm: VM) -> bytes:
        why = b"DEADLOCK"
        if vm.call("fj_finish", vm.put(why), len(why)) != 0:
            raise self._broken(vm)
        return self._result(vm)

    def _result(self, vm: VM) -> bytes:
        report = vm.result(most=MAX_REPORT_BYTES)
        if report is None:
            raise Ended("large", "")
        return report

    def _broken(self, vm: VM) -> Ended:
        """Say why the prelude itself failed: out of memory or of stack, else something of ours."""
        told = (vm.result(most=100_000) or b"").decode("utf-8", "replace")
        used = vm.call("fj_memory") & 0xFFFFFFFF
        if "out of memory" in told or (told in ("null", "") and used > self._order.heap_bytes * 3 // 4):
            return Ended("memory", told)
        if "call stack" in told or "stack overflow" in told:
            return Ended("stack", told)
        return Ended("trap", told or "the prelude failed")

    # ── Ways out ───────────────────────────────────────────────────────────────────────────────

    def _sent(self, op: int, payload: bytes) -> int:
        """Take one message of the guest; only notes it down."""
        if len(payload) > MAX_MESSAGE_BYTES.get(op, -1):
            return REFUSED
        if op == OP_COMPILED:
            self._is_compiled = True
            return 0
        if op == OP_CALL:
            return self._sent_call(payload)
        self._outbox.put(op, payload)
        return 0

    def _sent_call(self, payload: bytes) -> int:
        """Count a call. Only its id is looked at here; who serves it reads it whole, with suspicion."""
        found = _CALL_ID.match(payload)
        call_id = int(found.group(1)) if found else 0
        if call_id <= self._calls or self._calls >= self._order.max_calls + REFUSED_CALLS:
            return REFUSED
        self._calls = call_id
        self._in_flight += 1
        self._outbox.put(OP_CALL, payload)
        return 0

    def _time_out(self) -> None:
        self.stop("timeout")

    def _interrupt(self) -> None:
        if self._slot.interrupt(self):
            WATCHDOG.arm(time.monotonic() + REPEAT_SECONDS, self._interrupt)

    def _raise_if_stopped(self) -> None:
        if self.reason is not None:
            raise Stopped

    def _stopped_end(self) -> End:
        return End(kind=self.reason or "cancelled")

    def _trap_end(self, vm: VM, error: wasmtime.Trap | wasmtime.WasmtimeError) -> End:
        code = getattr(error, "trap_code", None)
        if code is wasmtime.TrapCode.STACK_OVERFLOW:
            kind: EndKind = "stack" if self._is_compiled else "nesting"
            return End(kind=kind, detail="the engine's own stack is used up")
        if vm.memory_bytes() >= self._order.heap_bytes:
            return End(kind="memory", detail=_last_line(error))
        return End(kind="trap", detail=_last_line(error))


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[-1].strip()[:300]
