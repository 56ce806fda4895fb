"""One thread for all deadlines: setting one is a push onto a heap, no thread is started per run."""

from __future__ import annotations

import heapq
import itertools
import logging
import os
import threading
import time
from collections.abc import Callable

log = logging.getLogger(__name__)


class Alarm:
    """A deadline that was set; it rings once unless disarmed before."""

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action

    def disarm(self) -> None:
        self.action = None


class Watchdog:
    def __init__(self, *, name: str = "forja-watchdog") -> None:
        self._name = name
        self._thread: threading.Thread | None = None
        self._reset()
        # A forked child has the heap but not the thread: it starts with an empty one.
        os.register_at_fork(after_in_child=self._reset)

    def arm(self, at: float, action: Callable[[], None]) -> Alarm:
        """Call `action` at this time of the monotonic clock, in the watchdog's thread; it must not block."""
        alarm = Alarm(action)
        with self._changed:
            heapq.heappush(self._heap, (at, next(self._order), alarm))
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name=self._name, daemon=True)
                self._thread.start()
            elif self._heap[0][2] is alarm:
                self._changed.notify()
        return alarm

    def _reset(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._heap: list[tuple[float, int, Alarm]] = []
        self._order = itertools.count()
        self._thread = None

    def _watch(self) -> None:
        while True:
            with self._changed:
                action = self._next_due()
            if action is not None:
                self._ring(action)

    def _next_due(self) -> Callable[[], None] | None:
        """Take what is due off the heap, or wait for the next change or deadline."""
        while self._heap and self._heap[0][2].action is None:
            heapq.heappop(self._heap)
        if not self._heap:
            self._changed.wait()
            return None
        wait_s = self._heap[0][0] - time.monotonic()
        if wait_s > 0:
            self._changed.wait(wait_s)
            return None
        return heapq.heappop(self._heap)[2].action

    @staticmethod
    def _ring(action: Callable[[], None]) -> None:
        try:
            action()
        except Exception:
            log.exception("a deadline's action failed")


WATCHDOG = Watchdog()
