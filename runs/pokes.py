"""Telling every web process that a run changed, and every worker that a run should stop.

A poke carries no content: whoever receives one reads the rows. Losing one costs time, never data.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Coroutine
from typing import Any

from channels.layers import get_channel_layer

WATCHERS = "forja.watchers"
WORKERS = "forja.workers"

log = logging.getLogger(__name__)


class _Loop:
    """One event loop on a thread of its own, so that synchronous code can use the channel layer cheaply."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._started())

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                threading.Thread(target=self._loop.run_forever, name="forja-pokes", daemon=True).start()
            return self._loop


background = _Loop()


async def _send(group: str, message: dict[str, Any]) -> None:
    try:
        await get_channel_layer().group_send(group, message)
    except Exception:
        # A lost poke costs time, never data: whoever waits reads again.
        log.warning("could not send %s to %s", message.get("type"), group, exc_info=log.isEnabledFor(logging.DEBUG))


def poke(*, run_id: str, session_id: str, ended: bool = False) -> None:
    """Say that this run's rows changed; returns at once."""
    background.run(_send(WATCHERS, {"type": "run.changed", "run": run_id, "session": session_id, "ended": ended}))


def ask_to_stop(run_id: str) -> None:
    """Ask whichever worker holds the run to stop it; returns at once."""
    background.run(_send(WORKERS, {"type": "run.stop", "run": run_id}))
