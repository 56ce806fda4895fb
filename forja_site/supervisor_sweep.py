"""Finding what belongs to an instance by its label, so that a restart ends its own leftovers and only its own."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from sandboxes.child import LABEL


def labelled(label: str) -> list[int]:
    """Give the processes of this user that carry the label in their environment, this one excepted."""
    wanted = f"{LABEL}={label}".encode()
    return [pid for pid in _processes() if pid != os.getpid() and wanted in _environment(pid)]


def sweep(label: str) -> int:
    """Kill them all; gives how many there were."""
    found = labelled(label)
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
