"""The "worker" host: VMs run in a thread of this process. Made for diagnosis; a child process is the default."""

from __future__ import annotations

import queue
import threading
from collections import deque

import wasmtime

from sandboxes.quickjs import cache
from sandboxes.quickjs.answers import Answer, QueuedAnswers
from sandboxes.quickjs.order import WARM_UP, End, Order, StopReason, Take
from sandboxes.quickjs.script import Script
from sandboxes.quickjs.threads import RUN_THREADS
from sandboxes.quickjs.vm import Slot


class ThreadRun:
    """A run in a thread of its own: the VM needs a deep stack and must never be in the main thread."""

    def __init__(self, *, slot: Slot, order: Order, take: Take) -> None:
        self._answers = QueuedAnswers()
        self._settled: deque[Answer] = deque()
        self._delivering = threading.Lock()
        self._script = Script(slot=slot, order=order, answers=self._answers, deliver=take)
        self._ended: queue.SimpleQueue[End | BaseException] = queue.SimpleQueue()

    def run(self) -> End:
        RUN_THREADS.run(self._run)
        end = self._ended.get()
        if isinstance(end, BaseException):
            raise end
        return end

    def settle(self, *, call_id: int, ok: bool, payload: bytes, clock_ms: int) -> None:
        self._settled.append(Answer(call_id, ok, payload, clock_ms))

    def deliver(self) -> None:
        """Wake the script as the last thing: earlier, it would only wait for the interpreter's lock."""
        with self._delivering:
            while self._settled:
                self._answers.put(self._settled.popleft())

    def stop(self, reason: StopReason) -> None:
        self._script.stop(reason)

    def abort(self) -> None:
        self._script.stop("cancelled")

    def _run(self) -> None:
        try:
            end: End | BaseException = self._script.run()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the run was started
            end = error
        self._ended.put(end)
        self._script.clear()


class ThreadRoom:
    def __init__(self, *, compiled: cache.Compiled) -> None:
        cache.check(compiled)
        try:
            self._slot = Slot(compiled=compiled.path)
        except wasmtime.WasmtimeError as error:
            raise cache.DamagedCache(str(error)[:300]) from error
        Script(slot=self._slot, order=WARM_UP, answers=QueuedAnswers(), deliver=lambda batch: None).warm_up()

    def begin(self, order: Order, take: Take) -> ThreadRun:
        return ThreadRun(slot=self._slot, order=order, take=take)

    def close(self) -> None:
        self._slot.close()
