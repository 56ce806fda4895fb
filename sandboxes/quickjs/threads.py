"""Threads that are kept and used again, daemons all: a tool that never returns cannot hold up the process's end."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

Work = Callable[[], None]

# Deep recursion in the guest uses the thread's own stack: with 256 KiB it would kill the process.
STACK_BYTES = 16 * 1024 * 1024
IDLE_SECONDS = 30.0

_starting = threading.Lock()


class Threads:
    """Runs each piece of work at once, in an idle thread if there is one, else in a new one."""

    def __init__(self, *, name: str) -> None:
        self._name = name
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def run(self, work: Work) -> None:
        with self._lock:
            box = self._idle.pop() if self._idle else None
        if box is None:
            box = queue.SimpleQueue()
            self._start(box)
        box.put(work)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Work]] = []

    def _start(self, box: queue.SimpleQueue[Work]) -> None:
        thread = threading.Thread(target=self._serve, args=(box,), name=self._name, daemon=True)
        with _starting:
            before = threading.stack_size(STACK_BYTES)
            try:
                thread.start()
            finally:
                threading.stack_size(before)

    def _serve(self, box: queue.SimpleQueue[Work]) -> None:
        while (work := self._next(box)) is not None:
            try:
                work()
            except Exception:
                log.exception("work in a kept thread failed")
            del work  # else an idle thread would keep the last run's data
            with self._lock:
                self._idle.append(box)

    def _next(self, box: queue.SimpleQueue[Work]) -> Work | None:
        while True:
            try:
                return box.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if box in self._idle:
                        self._idle.remove(box)
                        return None
                # Taken off the list a moment ago: its work is on the way.


TOOL_THREADS = Threads(name="forja-tool")
RUN_THREADS = Threads(name="forja-run")
