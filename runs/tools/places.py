"""What a file tool needs of a folder it may use: a handle on its root, and a way to write under its rules."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from runs.tools.paths import Parts, PlaceName
from sandboxes.base import StopSignal


class Place(Protocol):
    """A folder the file tools may use: a workspace or a scratchpad."""

    @property
    def kind(self) -> PlaceName: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def reserved(self) -> bytes | None:
        """A name at the top that the tools never touch."""

    def open_root(self) -> AbstractContextManager[int]:
        """Give a verified handle on the folder, open as long as the context lasts."""

    def write(self, parts: Parts, data: bytes, *, append: bool, stop: StopSignal) -> int:
        """Write a file whole or not at all; give its size in bytes afterwards."""
