"""Hearing what `make` hears: it waits for us when it is asked to stop, and tells us only of SIGTERM."""

from __future__ import annotations

import os
import signal
from pathlib import Path

_MAKE = ("make", "gmake")


class MakeWatch:
    """Watches the `make` that started this process, if one did.

    On SIGINT and SIGHUP GNU make 4.4 stays in its signal handler, with that signal blocked, until its child has
    ended; a terminal tells the child as well, but `kill` does not. And a `make` that was killed has told nobody.
    """

    def __init__(self) -> None:
        parent = os.getppid()
        self._make = parent if _command(parent) in _MAKE else None
        self._seen = 0

    def wants_stop(self) -> bool:
        """Has make ended, or been stopped in its tracks for two looks in a row (starting a child blocks it briefly)?"""
        if self._make is None:
            return False
        if os.getppid() != self._make:
            return True
        self._seen = self._seen + 1 if _blocks_a_stop(self._make) else 0
        return self._seen >= 2


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _blocks_a_stop(pid: int) -> bool:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    mask = next((int(line.split()[1], 16) for line in lines if line.startswith("SigBlk:")), 0)
    return any(mask >> (number - 1) & 1 for number in (signal.SIGINT, signal.SIGHUP))
