"""The "process" host: each slot is a child process kept ready, with a fresh VM per run in it.

The child ends its own runs in time. When it does not confirm within a grace, it is killed: what it says is never
needed for a run to end.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import IO

from sandboxes import child
from sandboxes.errors import EngineUnavailable
from sandboxes.quickjs import cache, frames
from sandboxes.quickjs.order import OP_CALL, OP_OUTPUT, OP_PROGRESS, End, EndKind, Order, StopReason, Take
from sandboxes.quickjs.watchdog import WATCHDOG, Alarm

log = logging.getLogger(__name__)

READY_SECONDS = 20.0
# The child's own clock stops a run within milliseconds; these only count when the child is stuck.
TIMEOUT_GRACE_SECONDS = 0.75
CANCEL_GRACE_SECONDS = 0.5

# A killed child can take a job in its last moment; so soon, and without a word, it never began it.
DYING_SECONDS = 0.1

_MESSAGES = (OP_CALL, OP_OUTPUT, OP_PROGRESS)


class EngineProcess:
    """One child process and its three pipes: jobs and answers in, stops in, all else out."""

    def __init__(self, *, compiled: cache.Compiled, label: str) -> None:
        stops, self._stops = os.pipe()
        command = child.python_command("sandboxes.quickjs.kid", str(compiled.path), compiled.sha256, str(stops))
        try:
            self._process = child.start(
                command,
                label=label,
                limits=child.ENGINE,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(stops,),
            )
        finally:
            os.close(stops)
        self._closing = threading.Lock()
        self._writing = threading.Lock()
        self._runs = 0
        self.is_broken = False
        self._wait_ready()

    @property
    def pid(self) -> int:
        return self._process.pid

    def next_run(self) -> int:
        self._runs += 1
        return self._runs

    def write(self, frame: bytes) -> None:
        """Send a job or an answer; OSError when the child is gone. A late answer of the last run may still be on its
        way when the next job comes: the child reads it and lets it go."""
        with self._writing:
            try:
                stream = _pipe(self._process.stdin)
                stream.write(frame)
                stream.flush()
            except ValueError as error:  # closed
                raise BrokenPipeError from error

    def write_stop(self, run: int) -> None:
        with self._closing, contextlib.suppress(OSError):
            if self._stops >= 0:
                os.write(self._stops, frames.pack(frames.STOP, run))

    def read(self) -> frames.Frame | None:
        """Read what the child says next; None when it is gone, and when it has to go."""
        try:
            return frames.read(_pipe(self._process.stdout), most=frames.MAX_FROM_CHILD)
        except (frames.BadFrame, OSError, ValueError) as error:
            log.warning("the engine's process broke its protocol: %s", error)
            self.is_broken = True
            return None

    def kill(self) -> None:
        child.kill(self._process)

    def close(self) -> None:
        with self._closing:
            if self._stops >= 0:
                os.close(self._stops)
            self._stops = -1
        child.end(self._process)

    def _wait_ready(self) -> None:
        """Wait for the child's first word."""
        is_there = select.select([_pipe(self._process.stdout)], [], [], READY_SECONDS)[0]
        kind, _, payload = (self.read() if is_there else None) or (0, 0, b"")
        if kind == frames.READY:
            return
        self.close()
        complaint = payload.decode("utf-8", "replace")
        if complaint.startswith(("DamagedCache", "WasmtimeError")):
            raise cache.DamagedCache(complaint)
        raise EngineUnavailable(f"the engine's process did not start: {complaint or 'no answer'}")


class ProcessRun:
    """A run in a room's child. The caller's thread reads what the child says; any thread may settle or stop."""

    def __init__(self, *, room: ProcessRoom, order: Order, take: Take) -> None:
        self._room = room
        self._order = order
        self._take = take
        self._lock = threading.Lock()
        self._engine: EngineProcess | None = None
        self._number = 0
        self._has_spoken = False
        self._stop: StopReason | None = None
        self._forced: EndKind | None = None
        self._alarms: list[Alarm] = []
        self._answers: deque[bytes] = deque()
        self._sending = threading.Lock()

    def run(self) -> End:
        try:
            return self._run()
        except BaseException:
            self._force("killed")
            raise
        finally:
            with self._lock:
                engine, self._engine = self._engine, None
            for alarm in self._alarms:
                alarm.disarm()
            if engine is not None and self._forced:
                engine.close()

    def settle(self, *, call_id: int, ok: bool, payload: bytes, clock_ms: int) -> None:
        body = frames.pack_settle(call_id=call_id, ok=ok, payload=payload, clock_ms=clock_ms)
        self._answers.append(frames.pack(frames.SETTLE, self._number, body))

    def deliver(self) -> None:
        """Write the queued answers in order. Whoever comes while another thread writes leaves it to that one."""
        while self._answers and self._sending.acquire(blocking=False):
            try:
                while self._answers:
                    self._write(self._answers.popleft())
            finally:
                self._sending.release()

    def stop(self, reason: StopReason) -> None:
        with self._lock:
            self._stop = self._stop or reason
            engine = self._engine
        if engine is not None:
            self._kill_at(time.monotonic() + CANCEL_GRACE_SECONDS, reason)
            engine.write_stop(self._number)

    def abort(self) -> None:
        self._force("killed")

    def _run(self) -> End:
        end = self._try(self._room.engine) or self._try(self._room.renew())
        return end or End(kind="killed")

    def _try(self, engine: EngineProcess) -> End | None:
        """Run it in this child; None when the child turned out to be gone, or dying, before anything had happened."""
        with self._lock:
            if self._stop is not None:
                return End(kind=self._stop)
            self._engine, self._number = engine, engine.next_run()
        sent_at = time.monotonic()
        self._kill_at(sent_at + self._order.timeout_ms / 1000 + TIMEOUT_GRACE_SECONDS, "timeout")
        try:
            engine.write(frames.pack(frames.JOB, self._number, frames.pack_order(self._order)))
        except OSError:
            return End(kind=self._forced) if self._forced else None
        if (end := self._listen(engine)) is not None:
            return end
        was_dying = time.monotonic() - sent_at < DYING_SECONDS and not (self._has_spoken or engine.is_broken)
        if was_dying and self._forced is None:
            return None
        self._forced = self._forced or "killed"
        return End(kind=self._forced)

    def _listen(self, engine: EngineProcess) -> End | None:
        """Pass on what the child says about this run until it tells the end; None when it falls silent for good."""
        while (frame := engine.read()) is not None:
            kind, number, payload = frame
            if number != self._number:
                continue
            self._has_spoken = True
            if kind in _MESSAGES:
                self._take([(kind, payload)])
            elif kind == frames.ENDED:
                return self._read_end(payload)
        return None

    def _read_end(self, payload: bytes) -> End:
        try:
            return frames.read_end(payload)
        except frames.BadFrame as error:
            log.warning("the engine's process broke its protocol: %s", error)
            self._force("killed")
            return End(kind="killed", detail="The engine's process sent something that is not in its protocol.")

    def _kill_at(self, at: float, reason: StopReason) -> None:
        self._alarms.append(WATCHDOG.arm(at, lambda: self._force(reason)))

    def _force(self, kind: EndKind) -> None:
        """Kill the child if this run is still in it; the run then ends as `kind`."""
        with self._lock:
            engine = self._engine
            if engine is None:
                return
            self._forced = self._forced or kind
            engine.kill()

    def _write(self, frame: bytes) -> None:
        with self._lock:
            engine = self._engine
        if engine is not None:
            with contextlib.suppress(OSError):
                engine.write(frame)


class ProcessRoom:
    """A slot whose child is replaced when it has died."""

    def __init__(self, *, prepare: Callable[[], cache.Compiled], label: str) -> None:
        self._prepare = prepare
        self._label = label
        self.engine = self._start_engine()

    def begin(self, order: Order, take: Take) -> ProcessRun:
        return ProcessRun(room=self, order=order, take=take)

    def renew(self) -> EngineProcess:
        self.engine.close()
        self.engine = self._start_engine()
        return self.engine

    def close(self) -> None:
        self.engine.close()

    def _start_engine(self) -> EngineProcess:
        return EngineProcess(compiled=self._prepare(), label=self._label)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise BrokenPipeError
    return stream
