"""The "process" host: each slot is a child process kept ready, with a fresh VM per run in it.

The child ends its own runs in time. When it does not confirm within a grace, it is killed: what it says is never
needed for a run to end.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import threading
import time
from collections.abc import Callable
from typing import IO

from sandboxes import child
from sandboxes.errors import EngineUnavailable
from sandboxes.quickjs import cache, frames
from sandboxes.quickjs.order import OP_CALL, OP_OUTPUT, OP_PROGRESS, End, EndKind, Inbox, Order, StopReason
from sandboxes.quickjs.watchdog import WATCHDOG, Alarm

log = logging.getLogger(__name__)

READY_SECONDS = 20.0
# The child's own clock stops a run within milliseconds; these only count when the child is stuck.
TIMEOUT_GRACE_SECONDS = 0.75
CANCEL_GRACE_SECONDS = 0.5

_MESSAGES = (OP_CALL, OP_OUTPUT, OP_PROGRESS)


class ProcessRun:
    """A run in a child, by its number there."""

    def __init__(self, *, owner: EngineProcess, number: int, inbox: Inbox) -> None:
        self.number = number
        self.inbox = inbox
        self.forced: EndKind | None = None
        self.alarms: list[Alarm] = []
        self._owner = owner

    def settle(self, *, call_id: int, ok: bool, payload: bytes, clock_ms: int) -> None:
        body = frames.pack_settle(call_id=call_id, ok=ok, payload=payload, clock_ms=clock_ms)
        self._owner.tell(self, frames.SETTLE, body)

    def stop(self, reason: StopReason) -> None:
        # First the way that cannot fail: writing to a child that does not read may block.
        self.kill_at(time.monotonic() + CANCEL_GRACE_SECONDS, reason)
        self._owner.tell(self, frames.STOP, b"")

    def abort(self) -> None:
        self._owner.force(self, "killed")

    def kill_at(self, at: float, reason: StopReason) -> None:
        self.alarms.append(WATCHDOG.arm(at, lambda: self._owner.force(self, reason)))


class EngineProcess:
    """One child process and the thread that reads from it."""

    def __init__(self, *, compiled: cache.Compiled, label: str) -> None:
        command = child.python_command("sandboxes.quickjs.kid", str(compiled.path), compiled.sha256)
        self._process = child.start(
            command, label=label, limits=child.ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._writing = threading.Lock()
        self._changing = threading.Lock()
        self._run: ProcessRun | None = None
        self._runs = 0
        self._is_dead = False
        self._ready = threading.Event()
        self._complaint = ""
        threading.Thread(target=self._read, name="forja-engine-reader", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_ready(self) -> None:
        self._ready.wait(READY_SECONDS)
        if self._is_dead or not self._ready.is_set():
            self.close()
            if self._complaint.startswith(("DamagedCache", "WasmtimeError")):
                raise cache.DamagedCache(self._complaint)
            raise EngineUnavailable(f"the engine's process did not start: {self._complaint or 'no answer'}")

    def start(self, order: Order, inbox: Inbox) -> ProcessRun:
        """Send a run; raises OSError when the child is gone, and then nothing of the run has happened."""
        with self._changing:
            if self._is_dead:
                raise BrokenPipeError
            self._runs += 1
            run = self._run = ProcessRun(owner=self, number=self._runs, inbox=inbox)
        try:
            self._write(frames.pack(frames.JOB, run.number, frames.pack_order(order)))
        except OSError:
            self._forget(run)
            raise
        run.kill_at(time.monotonic() + order.timeout_ms / 1000 + TIMEOUT_GRACE_SECONDS, "timeout")
        return run

    def tell(self, run: ProcessRun, kind: int, payload: bytes) -> None:
        if self._run is run:
            with contextlib.suppress(OSError):
                self._write(frames.pack(kind, run.number, payload))

    def force(self, run: ProcessRun, kind: EndKind) -> None:
        """Kill the child if this run is still in it; the run then ends as `kind`."""
        with self._changing:
            if self._run is not run:
                return
            run.forced = run.forced or kind
        child.kill(self._process)

    def close(self) -> None:
        child.kill(self._process)
        self._process.wait()
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()

    # ── Reading ────────────────────────────────────────────────────────────────────────────────

    def _read(self) -> None:
        stream = _pipe(self._process.stdout)
        try:
            while (frame := frames.read(stream, most=frames.MAX_FROM_CHILD)) is not None:
                self._take(*frame)
        except (frames.BadFrame, OSError) as error:
            log.warning("the engine's process broke its protocol: %s", error)
        finally:
            stream.close()
            self._die()

    def _take(self, kind: int, number: int, payload: bytes) -> None:
        run = self._run
        if kind in _MESSAGES:
            if run is not None and run.number == number:
                run.inbox.messages([(kind, payload)])
        elif kind == frames.ENDED:
            end = frames.read_end(payload)
            if run is not None and run.number == number and self._forget(run):
                run.inbox.ended(end)
        elif kind == frames.FAILED:
            self._complaint = payload.decode("utf-8", "replace")
        else:
            self._ready.set()

    def _die(self) -> None:
        """The child is gone, or has to go: end the run that was in it."""
        child.kill(self._process)
        self._process.wait()
        with self._changing:
            self._is_dead = True
            run = self._run
        self._ready.set()
        if run is not None and self._forget(run):
            run.inbox.ended(End(kind=run.forced or "killed", detail=self._complaint))

    def _forget(self, run: ProcessRun) -> bool:
        """Let go of a run; true for the one caller that did."""
        with self._changing:
            if self._run is not run:
                return False
            self._run = None
        for alarm in run.alarms:
            alarm.disarm()
        return True

    def _write(self, data: bytes) -> None:
        with self._writing:
            stream = _pipe(self._process.stdin)
            stream.write(data)
            stream.flush()


class ProcessRoom:
    """A slot whose child is started when needed and again when it has died."""

    def __init__(self, *, prepare: Callable[[], cache.Compiled], label: str) -> None:
        self._prepare = prepare
        self._label = label
        self._engine = self._start_engine()

    @property
    def pid(self) -> int:
        return self._engine.pid

    def start(self, order: Order, inbox: Inbox) -> ProcessRun:
        try:
            return self._engine.start(order, inbox)
        except OSError:
            self._engine.close()
            self._engine = self._start_engine()
        try:
            return self._engine.start(order, inbox)
        except OSError as error:
            raise EngineUnavailable("the engine's process ends as soon as it is started") from error

    def close(self) -> None:
        self._engine.close()

    def _start_engine(self) -> EngineProcess:
        engine = EngineProcess(compiled=self._prepare(), label=self._label)
        engine.wait_ready()
        return engine


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise BrokenPipeError
    return stream
