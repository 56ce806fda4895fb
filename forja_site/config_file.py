"""Reading one configuration file that anyone may have written: bounded, strict, never followed through a link."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

MAX_FILE_BYTES = 256 * 1024

Signature = tuple[int, ...] | None


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something wrong with a configuration file; an `error` makes the whole file invalid.

    `value` is a short JSON text of what was found, `nearest` the known key that was probably meant.
    """

    severity: Literal["error", "warning"]
    file: str
    key: str
    message: str
    value: str = ""
    nearest: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"


class Unreadable(Exception):
    """The file cannot be used at all; the message says why."""


class JsonObject(dict[str, Any]):
    """A JSON object that remembers which names came twice."""

    duplicates: tuple[str, ...] = ()


def signature(path: Path, *, own: bool) -> Signature:
    """Give what changes whenever the file does, or None where there is none; see `read_tree` for `own`."""
    try:
        states = (os.stat(path),) if own else (os.lstat(path), os.lstat(path.parent))
    except FileNotFoundError:
        # A link to nowhere is no missing file.
        return (0,) if path.is_symlink() or (not own and path.parent.is_symlink()) else None
    except OSError as error:
        return (-1, error.errno or 0)
    file = states[0]
    return (file.st_mtime_ns, file.st_ctime_ns, file.st_size, file.st_ino, *(state.st_mode for state in states))


def read_tree(path: Path, *, own: bool) -> JsonObject:
    """Read the file as one JSON object, or raise Unreadable.

    A project's file (`own` is False) belongs to whoever owns the workspace: no part of `.forja/config.json` may be a
    link. The global file is the instance's own, and people do link that one.
    """
    try:
        with _opened(path, own=own) as descriptor:
            raw = _read_bounded(descriptor)
    except OSError as error:
        raise Unreadable(_reason(error, own=own)) from error
    return _parse(raw)


def _reason(error: OSError, *, own: bool) -> str:
    if not own and error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "neither it nor its folder may be a symbolic link, and the folder must be one"
    return f"it cannot be read ({os.strerror(error.errno or 0)})"


@contextlib.contextmanager
def _opened(path: Path, *, own: bool) -> Iterator[int]:
    nofollow = 0 if own else os.O_NOFOLLOW
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | nofollow)
    try:
        # O_NONBLOCK: opening a named pipe must not hang.
        descriptor = os.open(path.name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | nofollow, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read_bounded(descriptor: int) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise Unreadable("it is not a plain file")
    raw = b""
    while len(raw) <= MAX_FILE_BYTES and (chunk := os.read(descriptor, MAX_FILE_BYTES + 1 - len(raw))):
        raw += chunk
    if len(raw) > MAX_FILE_BYTES:
        raise Unreadable(f"it is larger than {MAX_FILE_BYTES} bytes")
    return raw


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    tree = JsonObject(pairs)
    if len(tree) != len(pairs):
        names = [name for name, _ in pairs]
        tree.duplicates = tuple(name for name in tree if names.count(name) > 1)
    return tree


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _parse(raw: bytes) -> JsonObject:
    try:
        tree = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {str(error)[:80]}") from error
    except RecursionError as error:
        raise Unreadable("it is nested too deep") from error
    if not isinstance(tree, JsonObject):
        raise Unreadable("its outermost value must be an object, as in {}")
    return tree
