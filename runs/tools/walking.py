"""Walking a folder by handles: bounded in depth and entries, in the order of the names, prompt to stop."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Literal

from runs.tools.confine import FOLDER_FLAGS, is_reserved
from runs.tools.globs import Glob, Positions
from runs.tools.paths import Parts, show_name
from runs.tools.writing import TEMPORARY_PREFIX, refuse_stopped
from sandboxes.base import StopSignal

MAX_VISITED = 100_000
MAX_DEPTH = 40

Kind = Literal["file", "directory", "link", "other"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing in a folder; size and time (Unix seconds) are its own, never those of what a link points to."""

    parts: Parts
    kind: Kind
    size_bytes: int
    modified_s: float


@dataclass(kw_only=True)
class Walk:
    """A walk from one open folder; `truncated` says afterwards that a bound cut it short."""

    stop: StopSignal
    glob: Glob
    reserved: bytes | None = None
    max_visited: int = MAX_VISITED
    truncated: bool = False
    _visited: int = field(default=0, init=False)

    def entries(self, folder_fd: int, at: Parts) -> Generator[Entry, None, None]:
        """Give what matches below the folder that `folder_fd` is a handle on and `at` the path of."""
        yield from self._below(folder_fd, at, self.glob.start, depth=0)

    def _below(self, fd: int, at: Parts, positions: Positions, *, depth: int) -> Generator[Entry, None, None]:
        for name in self._names(fd, is_top=not at):
            after = self.glob.step(positions, show_name(name))
            if not after:
                continue
            entry = _entry(fd, name, at)
            if entry is None:
                continue
            if self.glob.accepts(after):
                yield entry
            if entry.kind == "directory":
                yield from self._enter(fd, name, entry.parts, after, depth=depth + 1)

    def _enter(
        self, fd: int, name: bytes, at: Parts, positions: Positions, *, depth: int
    ) -> Generator[Entry, None, None]:
        if depth > MAX_DEPTH:
            self.truncated = True
            return
        try:
            below = os.open(name, FOLDER_FLAGS, dir_fd=fd)
        except OSError:
            return  # gone, swapped for a link, or not ours to read: it is listed, not entered
        try:
            yield from self._below(below, at, positions, depth=depth)
        finally:
            os.close(below)

    def _names(self, fd: int, *, is_top: bool) -> list[bytes]:
        """Give a folder's names in order, as many as the bound still allows."""
        refuse_stopped(self.stop)
        room = self.max_visited - self._visited
        with os.scandir(fd) as found:
            names = [os.fsencode(entry.name) for entry in itertools.islice(found, room + 1)]
        if len(names) > room:
            self.truncated = True
            names = names[:room]
        self._visited += len(names)
        return sorted(name for name in names if not _is_hidden(name, self.reserved if is_top else None))


def _is_hidden(name: bytes, reserved: bytes | None) -> bool:
    return is_reserved(name, reserved) or name.startswith(TEMPORARY_PREFIX)


def _entry(fd: int, name: bytes, at: Parts) -> Entry | None:
    try:
        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except OSError:
        return None  # deleted since the names were read
    return Entry(parts=(*at, name), kind=_kind(found), size_bytes=found.st_size, modified_s=found.st_mtime)


def _kind(found: os.stat_result) -> Kind:
    """Say what it is to a reader: a file that has a second name somewhere is refused, so it is listed as no file."""
    if stat.S_ISREG(found.st_mode):
        return "file" if found.st_nlink <= 1 else "other"
    if stat.S_ISDIR(found.st_mode):
        return "directory"
    return "link" if stat.S_ISLNK(found.st_mode) else "other"
