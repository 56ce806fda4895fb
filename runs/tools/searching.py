"""Finding a text or a pattern in one open file, line by line, in time linear in its size.

Patterns run on RE2, which cannot backtrack: no pattern can hold a worker for longer than its text is long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import re2  # type: ignore[import-untyped]

from runs.tools.masking import fit
from runs.tools.writing import refuse_stopped
from sandboxes.base import KIB, MIB, StopSignal
from sandboxes.errors import InvalidInput

MAX_FILE_BYTES = 64 * MIB
MAX_QUERY_CHARS = 1000
MAX_LINE_CHARS = 500
BLOCK_BYTES = 256 * KIB
SNIFFED_BYTES = 8 * KIB
# Measured: 10,000 instructions cost RE2 4 s for a block in its slowest mode; a stop is heard between blocks.
MAX_PROGRAM_SIZE = 2000


@dataclass(frozen=True, kw_only=True)
class Hit:
    line: int
    text: str


class Needle(Protocol):
    def find(self, block: bytes, start: int) -> int:
        """Give where the next match begins, -1 when there is none."""


def needle(query: str, *, is_regex: bool) -> Needle:
    """Make a matcher of the query; raises InvalidInput when it is no pattern, or one too large."""
    if not query or len(query) > MAX_QUERY_CHARS:
        raise InvalidInput(f"`query` must have 1 to {MAX_QUERY_CHARS} characters.", field="query")
    try:
        query.encode()
    except UnicodeEncodeError:
        raise InvalidInput("`query` holds half of a surrogate pair.", field="query") from None
    return _Pattern(query) if is_regex else _Literal(query)


class _Literal:
    def __init__(self, query: str) -> None:
        self._query = query.encode()

    def find(self, block: bytes, start: int) -> int:
        return block.find(self._query, start)


class _Pattern:
    def __init__(self, query: str) -> None:
        options = re2.Options()
        options.never_nl = True
        options.log_errors = False
        try:
            # (?m): ^ and $ are the ends of a line, as a line is what is searched.
            self._compiled = re2.compile("(?m)" + query, options)
        except re2.error as error:
            raise _no_pattern(error) from None
        if self._compiled.programsize > MAX_PROGRAM_SIZE:
            raise InvalidInput(
                "`query` is too large a pattern.", hint="Use fewer and smaller repetitions.", field="query"
            )

    def find(self, block: bytes, start: int) -> int:
        found = self._compiled.search(block, start)
        return -1 if found is None else found.start()


def _no_pattern(error: Exception) -> InvalidInput:
    said = error.args[0] if error.args else ""
    words = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    return InvalidInput(
        f"`query` is no regular expression that can be searched for: {fit(words, 200)}.",
        hint="RE2 syntax: no look-around and no back-references.",
        field="query",
    )


def search_file(fd: int, wanted: Needle, stop: StopSignal) -> Iterator[Hit]:
    """Give each line that matches, once; nothing for a file that holds NUL bytes early on, as binaries do."""
    line = 1
    for block in _blocks(fd, stop):
        if line == 1 and b"\0" in block[:SNIFFED_BYTES]:
            return
        yield from _hits(block, line, wanted)
        line += block.count(b"\n")


def _blocks(fd: int, stop: StopSignal) -> Iterator[bytes]:
    """Read whole lines, about BLOCK_BYTES at a time; a longer line comes in pieces."""
    left = MAX_FILE_BYTES
    rest = b""
    while left > 0:
        refuse_stopped(stop)
        chunk = os.read(fd, min(BLOCK_BYTES, left))
        left -= len(chunk)
        if not chunk:
            break
        rest += chunk
        end = rest.rfind(b"\n") + 1 or (len(rest) if len(rest) >= BLOCK_BYTES else 0)
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _hits(block: bytes, first_line: int, wanted: Needle) -> Iterator[Hit]:
    line, counted, position = first_line, 0, 0
    while (at := wanted.find(block, position)) >= 0:
        begin = block.rfind(b"\n", 0, at) + 1
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        if begin == len(block):
            return  # the empty piece after the last line break is no line
        line += block.count(b"\n", counted, begin)
        counted = begin
        yield Hit(line=line, text=_shown(block[begin:end], at - begin))
        position = end + 1
        if position > len(block):
            return


def _shown(line: bytes, at: int) -> str:
    """Write the line, or of a long one the piece around the match."""
    text = line.removesuffix(b"\r").decode(errors="replace")
    if len(text) <= MAX_LINE_CHARS:
        return text
    start = max(0, len(line[:at].decode(errors="replace")) - MAX_LINE_CHARS // 4)
    piece = text[start : start + MAX_LINE_CHARS]
    return ("…" if start else "") + piece + ("…" if start + MAX_LINE_CHARS < len(text) else "")
