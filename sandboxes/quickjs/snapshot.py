"""Turns a running WebAssembly module into a new module that starts where it stands, in pure Python.

The guest is run until its prelude is installed; then the image of its memory becomes the new module's data
segments. Starting a VM is then a copy-on-write mapping instead of an initialisation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

VERSION = 1

_MAGIC = b"\0asm\1\0\0\0"
_CUSTOM, _MEMORY, _GLOBAL, _EXPORT, _START, _DATA, _DATA_COUNT = 0, 5, 6, 7, 8, 11, 12
_PAGE_BYTES = 65536
# Runs of zeros up to this length stay inside a segment: a new segment costs about as much.
_GAP_BYTES = 64
_SEGMENTS = re.compile(rb"(?:[^\0]|\0{1,%d}(?=[^\0]))+" % _GAP_BYTES, re.DOTALL)
_MUTABLE_I32 = b"\x7f\x01"
_CONST_WIDTH = {0x43: 4, 0x44: 8}


class UnexpectedModule(ValueError):
    """The module has a part that cannot be carried over."""


def preinitialised(*, module: bytes, image: bytes, stack_pointer: int, keep: frozenset[str]) -> bytes:
    """Give `module` with `image` as its memory, exporting only the names in `keep`."""
    segments = [(match.start(), match.group()) for match in _SEGMENTS.finditer(image)]
    parts = list(_sections(module))
    exports = _exports(next(body for kind, body in parts if kind == _EXPORT))
    stack_global = next(index for name, _, index in exports if name == "__stack_pointer")
    out = bytearray(_MAGIC)
    for kind, body in parts:
        if kind == _START:
            raise UnexpectedModule("the module has a start function")
        if kind == _CUSTOM:
            continue
        if kind == _MEMORY:
            body = _memory(body, pages=len(image) // _PAGE_BYTES)
        elif kind == _GLOBAL:
            body = _globals(body, index=stack_global, value=stack_pointer)
        elif kind == _EXPORT:
            body = _vector(_export(row) for row in exports if row[0] in keep)
        elif kind == _DATA_COUNT:
            body = _unsigned(len(segments))
        elif kind == _DATA:
            body = _vector(_segment(offset, data) for offset, data in segments)
        out += bytes([kind]) + _unsigned(len(body)) + body
    return bytes(out)


def _sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    if module[:8] != _MAGIC:
        raise UnexpectedModule("this is not a WebAssembly module")
    at = 8
    while at < len(module):
        length, start = _read_unsigned(module, at + 1)
        yield module[at], module[start : start + length]
        at = start + length


def _memory(body: bytes, *, pages: int) -> bytes:
    count, at = _read_unsigned(body, 0)
    if count != 1:
        raise UnexpectedModule(f"the module has {count} memories")
    _, rest = _read_unsigned(body, at + 1)
    return _unsigned(1) + body[at : at + 1] + _unsigned(pages) + body[rest:]


def _globals(body: bytes, *, index: int, value: int) -> bytes:
    """Put the live stack pointer in; any other mutable global would lose its value, so there may be none."""
    count, at = _read_unsigned(body, 0)
    rows: list[bytes] = []
    for number in range(count):
        end = _end_of_global(body, at)
        row, kind = body[at:end], body[at : at + 2]
        if number == index and kind == _MUTABLE_I32:
            row = kind + b"\x41" + _signed(value) + b"\x0b"
        elif number == index or kind[1] == 1:
            raise UnexpectedModule(f"global {number} cannot be carried over")
        rows.append(row)
        at = end
    return _vector(rows)


def _end_of_global(body: bytes, at: int) -> int:
    """Find the end of one global: its type, one constant, `end`."""
    opcode, at = body[at + 2], at + 3
    if opcode in (0x41, 0x42):
        while body[at] & 0x80:
            at += 1
        at += 1
    else:
        at += _CONST_WIDTH.get(opcode, len(body))
    if body[at : at + 1] != b"\x0b":
        raise UnexpectedModule("a global is not a plain constant")
    return at + 1


def _exports(body: bytes) -> list[tuple[str, int, int]]:
    count, at = _read_unsigned(body, 0)
    found = []
    for _ in range(count):
        length, at = _read_unsigned(body, at)
        name, kind = body[at : at + length].decode(), body[at + length]
        index, at = _read_unsigned(body, at + length + 1)
        found.append((name, kind, index))
    return found


def _export(row: tuple[str, int, int]) -> bytes:
    name, kind, index = row
    return _unsigned(len(name)) + name.encode() + bytes([kind]) + _unsigned(index)


def _segment(offset: int, data: bytes) -> bytes:
    return b"\0\x41" + _signed(offset) + b"\x0b" + _unsigned(len(data)) + data


def _vector(rows: Iterator[bytes] | list[bytes]) -> bytes:
    listed = list(rows)
    return _unsigned(len(listed)) + b"".join(listed)


# ── LEB128 ──────────────────────────────────────────────────────────────────────────────────────


def _unsigned(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _signed(number: int) -> bytes:
    out = bytearray()
    while not -0x40 <= number < 0x40:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number & 0x7F)
    return bytes(out)


def _read_unsigned(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at
