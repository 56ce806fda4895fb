"""Reading a slice of an open file, as text where it is text."""

from __future__ import annotations

import os
from base64 import b64encode
from typing import Any

from runs.tools.writing import refuse_stopped
from sandboxes.base import MAX_TOOL_RESULT_BYTES, MIB, StopSignal
from sandboxes.errors import ToolResultTooLarge

# A binary slice grows by a third in base64, and JSON escapes need room: well inside one result.
MAX_READ_BYTES = MAX_TOOL_RESULT_BYTES // 2

_LONGEST_CHAR = 4


def read_slice(fd: int, *, offset: int, limit: int | None, stop: StopSignal) -> dict[str, Any]:
    """Give `{text | $bytes, bytes, truncated}`: `bytes` is the file's whole size, `truncated` that more follows.

    Offset and limit are in bytes. A character belongs to the slice that its first byte is in, so that slices
    side by side join up to the whole. Raises ToolResultTooLarge when no limit was given and the rest is too long.
    """
    size = os.fstat(fd).st_size
    if limit is None:
        limit = MAX_READ_BYTES
        if size - offset > limit:
            raise ToolResultTooLarge(
                f"The file has {size} bytes; one read gives at most {MAX_READ_BYTES}.",
                hint="Read it in slices: pass `offset` and `limit`.",
                bytes=size,
            )
    data = _read(fd, offset, limit + _LONGEST_CHAR - 1, stop)
    return _as_text(data, limit, is_start=offset == 0) | {"bytes": size, "truncated": offset + limit < size}


def _read(fd: int, offset: int, count: int, stop: StopSignal) -> bytes:
    chunks = []
    while count > 0:
        refuse_stopped(stop)
        chunk = os.pread(fd, min(count, MIB), offset)
        if not chunk:
            break
        chunks.append(chunk)
        offset += len(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def _as_text(data: bytes, limit: int, *, is_start: bool) -> dict[str, Any]:
    begin = 0 if is_start else _next_char(data, 0)
    end = min(limit, len(data))
    try:
        return {"text": data[begin : max(begin, _next_char(data, end))].decode()}
    except UnicodeDecodeError:
        return {"$bytes": b64encode(data[:limit]).decode("ascii")}


def _next_char(data: bytes, at: int) -> int:
    """Give the first place from `at` on, at most three bytes further, where a character can begin."""
    for place in range(at, min(at + _LONGEST_CHAR, len(data))):
        if data[place] & 0xC0 != 0x80:
            return place
    return min(at, len(data)) if at + _LONGEST_CHAR <= len(data) else len(data)
