"""What a script prints: head and tail for the row, the whole text on disk, bounded."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from pathlib import Path
from typing import IO

from django.conf import settings

from sandboxes.base import MAX_STORED_OUTPUT_BYTES

PART_CHARS = 24_000
"""Kept at each end: with both ends a row holds the largest `maxOutputChars` there is."""

log = logging.getLogger(__name__)


def folder_of(run_id: str) -> Path:
    return Path(settings.FORJA_HOME) / "outputs" / run_id


def path_of(run_id: str, stream: str) -> Path:
    return folder_of(run_id) / f"{stream}.txt"


class StreamStore:
    """One stream of one run. While it is short it lives in memory; then the whole goes to a file."""

    def __init__(self, *, run_id: str, stream: str) -> None:
        self._path = path_of(run_id, stream)
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self._file: IO[bytes] | None = None
        self._file_bytes = 0
        self._full = False
        self.chars = 0

    def write(self, text: str) -> None:
        """Take text that is already valid UTF-8 (see `requests.storable`)."""
        self.chars += len(text)
        rest = text
        if len(self._head) < PART_CHARS:
            room = PART_CHARS - len(self._head)
            self._head, rest = self._head + text[:room], text[room:]
        if rest:
            self._write_tail(rest)
        if self.chars > 2 * PART_CHARS:
            self._write_file(text)

    def _write_tail(self, text: str) -> None:
        self._tail.append(text)
        self._tail_chars += len(text)
        # Until the file exists nothing may fall off the tail: the file starts as head and tail.
        while self._file is not None and self._tail_chars - len(self._tail[0]) >= PART_CHARS:
            self._tail_chars -= len(self._tail.popleft())

    def _write_file(self, text: str) -> None:
        if self._full:
            return
        try:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._file = self._path.open("wb")
                text = self._head + "".join(self._tail)
            data = text.encode("utf-8", "replace")
            room = MAX_STORED_OUTPUT_BYTES - self._file_bytes
            self._file.write(data[:room])
            self._file_bytes += min(len(data), room)
            self._full = len(data) > room
        except OSError:
            self._give_up()

    def flush(self) -> None:
        if self._file is not None and not self._full:
            try:
                self._file.flush()
            except OSError:
                self._give_up()

    def close(self) -> None:
        if self._file is not None:
            # Python tries to write what it still buffers, and closes whether or not that goes well.
            with contextlib.suppress(OSError):
                self._file.close()

    def _give_up(self) -> None:
        """Store no more: a full disk must not end the run. Head and tail are kept, and the count tells what is not."""
        log.warning("could not store the output of a run at %s", self._path)
        self._full = True

    @property
    def head(self) -> str:
        return self._head

    @property
    def tail(self) -> str:
        """The end of the text, not overlapping the head."""
        return "".join(self._tail)[-PART_CHARS:]
