"""How much a scratchpad holds: counted by walking it, and noted beside it so that not every write has to walk.

The note is only ever used under the session's lock. It is taken away before a write and put back after it, so a
writer that is killed in between leaves none. It also names the folder it is about and when that last changed: a
folder that was emptied, or changed by somebody else, does not fit its note any more.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass

from runs.tools.confine import FOLDER_FLAGS

NOTE_NAME = "usage"
# What changes deeper down without us is noticed after this long; a walk of a full scratchpad takes about 60 ms.
MAX_NOTE_AGE_S = 5.0

_MAX_NOTE_BYTES = 1000
_NOTE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a scratchpad holds: apparent bytes of its files, and files and folders counted together."""

    size_bytes: int
    entries: int


@dataclass(frozen=True, kw_only=True)
class Held:
    """A usage and when its count began, in Unix seconds; `is_fresh` says that it was counted just now."""

    usage: Usage
    measured_s: float
    is_fresh: bool


def held(session_fd: int, root_fd: int) -> Held:
    """Give what the scratchpad holds: as noted, or counted when there is no note to rely on."""
    return _read_note(session_fd, root_fd) or measured(root_fd)


def measured(root_fd: int) -> Held:
    began_s = time.time()
    return Held(usage=measure(root_fd), measured_s=began_s, is_fresh=True)


def drop_note(session_fd: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(NOTE_NAME, dir_fd=session_fd)


def write_note(session_fd: int, root_fd: int, usage: Usage, *, measured_s: float) -> None:
    """Note what is held now; `measured_s` stays that of the last walk, so that a note grows old however often it is
    written. Without room on the disk there is no note, and the next write counts."""
    fields = {"bytes": usage.size_bytes, "entries": usage.entries, "measured": measured_s, "folder": _stamp(root_fd)}
    with suppress(OSError):
        fd = os.open(NOTE_NAME, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOTE_FLAGS, 0o600, dir_fd=session_fd)
        try:
            os.write(fd, json.dumps(fields).encode())
        finally:
            os.close(fd)


def measure(folder_fd: int) -> Usage:
    """Count what is below an open folder, links and special files included, following nothing."""
    size_bytes = entries = 0
    with os.scandir(folder_fd) as found:
        for entry in found:
            entries += 1
            if not entry.is_dir(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    size_bytes += entry.stat(follow_symlinks=False).st_size
                continue
            with suppress(OSError):
                below = _measure_below(folder_fd, entry.name)
                size_bytes += below.size_bytes
                entries += below.entries
    return Usage(size_bytes=size_bytes, entries=entries)


def _measure_below(folder_fd: int, name: str) -> Usage:
    below_fd = os.open(name, FOLDER_FLAGS, dir_fd=folder_fd)
    try:
        return measure(below_fd)
    finally:
        os.close(below_fd)


def _read_note(session_fd: int, root_fd: int) -> Held | None:
    try:
        note = json.loads(_note_text(session_fd))
        usage = Usage(size_bytes=int(note["bytes"]), entries=int(note["entries"]))
        measured_s, folder = float(note["measured"]), note["folder"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    # A clock that was set back makes a note from the future, whose age nobody knows.
    is_recent = 0 <= time.time() - measured_s < MAX_NOTE_AGE_S
    if not is_recent or folder != _stamp(root_fd) or min(usage.size_bytes, usage.entries) < 0:
        return None
    return Held(usage=usage, measured_s=measured_s, is_fresh=False)


def _note_text(session_fd: int) -> bytes:
    fd = os.open(NOTE_NAME, os.O_RDONLY | _NOTE_FLAGS, dir_fd=session_fd)
    try:
        return os.read(fd, _MAX_NOTE_BYTES)
    finally:
        os.close(fd)


def _stamp(root_fd: int) -> str:
    """Which folder it is, and when something was last put into it or taken out."""
    found = os.fstat(root_fd)
    return f"{found.st_dev}:{found.st_ino}:{found.st_mtime_ns}"
