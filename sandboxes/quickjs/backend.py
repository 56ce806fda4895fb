"""QuickJS in WebAssembly: the backend of `js_run`."""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from sandboxes.base import Control, EngineInfo, Host, Isolation, Job, Limits, Outcome, Status
from sandboxes.errors import EngineUnavailable, ForjaError
from sandboxes.quickjs import cache
from sandboxes.quickjs.build import COMMAND
from sandboxes.quickjs.compile import prepare as prepare_engine
from sandboxes.quickjs.controls import controls
from sandboxes.quickjs.order import Room
from sandboxes.quickjs.pins import ENGINE_NAME, ENGINE_SHA256, ENGINE_VERSION
from sandboxes.quickjs.source import prepare as prepare_source
from sandboxes.quickjs.supervisor import Supervisor

log = logging.getLogger(__name__)

HostChoice = Literal["auto", "process", "worker"]


class QuickJS:
    """Runs scripts in fresh VMs, at most `slots` at once; a further `run` waits for a free slot.

    `host`: "process" (and "auto") keeps a child process per slot, "worker" uses threads of this process.
    """

    name: ClassVar[str] = "quickjs"
    isolation: ClassVar[Isolation] = Isolation.ISOLATED

    def __init__(
        self, *, wasm_path: Path, cache_dir: Path, host: str = "auto", slots: int = 4, instance: str = "forja"
    ) -> None:
        self.host: Literal["process", "worker"] = "worker" if host == "worker" else "process"
        self._wasm = wasm_path
        self._cache = cache_dir
        self._slots = slots
        self._label = instance
        self._checked: tuple[int, int, int] | None = None
        self._idle: list[Room] = []
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def status(self) -> Status:
        try:
            self._check_engine()
        except ForjaError as error:
            return Status(ready=False, error=error, command=COMMAND)
        return Status(ready=True, engine=self.engine)

    @property
    def engine(self) -> EngineInfo:
        return EngineInfo(name=ENGINE_NAME, version=ENGINE_VERSION, sha256=ENGINE_SHA256, host=self.host)

    def host_reason(self) -> str:
        """Say in words where the engine runs."""
        if self.host == "worker":
            return "in a thread of the worker, as configured"
        return "in a child process kept ready for it"

    def controls(self, limits: Limits) -> dict[str, Control]:
        return controls(limits, host=self.host)

    def run(self, job: Job, host: Host) -> Outcome:
        """Run the job to its end; raises EngineUnavailable or EngineMismatch when there is no engine to run it."""
        try:
            source = prepare_source(job.code)
        except ForjaError as error:
            return Outcome(error=error)
        asked_at = time.monotonic()
        room = self._take()
        waited_ms = (time.monotonic() - asked_at) * 1000
        try:
            outcome = Supervisor(job=job, source=source, host=host, room=room).run()
        finally:
            self._give_back(room)
        if (startup_ms := outcome.metrics.get("startupMs")) is None:
            return outcome  # the wait alone is not what the start took
        # A room that first had to be made is part of what it took to start this run.
        return replace(outcome, metrics=outcome.metrics | {"startupMs": startup_ms + waited_ms})

    def warm(self, rooms: int = 1) -> None:
        """Make so many rooms ready (at most one per slot), so that the first runs find them."""
        taken = []
        try:
            for _ in range(min(rooms, self._slots)):
                taken.append(self._take())
        finally:
            for room in taken:
                self._give_back(room)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for room in idle:
            room.close()

    # ── Rooms ──────────────────────────────────────────────────────────────────────────────────

    def _take(self) -> Room:
        self._free.acquire()
        try:
            with self._lock:
                if self._is_closed:
                    raise EngineUnavailable("this engine has been closed")
                if self._idle:
                    return self._idle.pop()
            return self._make_room()
        except BaseException:
            self._free.release()
            raise

    def _give_back(self, room: Room) -> None:
        with self._lock:
            is_closed = self._is_closed
            if not is_closed:
                self._idle.append(room)
        if is_closed:
            room.close()
        self._free.release()

    def _make_room(self) -> Room:
        """Make a room; a compiled engine that cannot be loaded is built anew, once."""
        try:
            return self._open_room()
        except cache.DamagedCache as error:
            log.warning("the compiled engine cannot be loaded and is built again: %s", error)
            cache.discard(self._cache)
            return self._open_room()

    def _open_room(self) -> Room:
        if self.host == "process":
            from sandboxes.quickjs.process import ProcessRoom

            return ProcessRoom(prepare=self._prepare, label=self._label)
        from sandboxes.quickjs.worker import ThreadRoom

        return ThreadRoom(compiled=self._prepare())

    def _prepare(self) -> cache.Compiled:
        self._check_engine()
        return prepare_engine(wasm=self._wasm, folder=self._cache, label=self._label)

    def _check_engine(self) -> None:
        """Hash the built engine, unless it is the very file that was hashed before."""
        try:
            found = self._wasm.stat()
        except OSError:
            self._checked = None
            return cache.check_engine(self._wasm)
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        if mark != self._checked:
            cache.check_engine(self._wasm)
            self._checked = mark
        return None

    def _reset(self) -> None:
        """Start without rooms; a forked child must not use its parent's."""
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self._slots)
        self._idle = []
        self._is_closed = False
