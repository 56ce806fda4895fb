"""Writing a file whole or not at all, by directory handles."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from runs.tools.confine import (
    FILE_FLAGS,
    check_regular,
    existing_name,
    missing,
    open_folder,
    open_regular,
    refuse_reserved,
)
from runs.tools.paths import Parts
from sandboxes.base import MIB, StopSignal
from sandboxes.errors import Cancelled, InvalidInput, NotFound, PermissionDenied, ToolError

TEMPORARY_PREFIX = b".forja-write-"
# No write takes an hour: what is older was left by one that was killed.
MAX_TEMPORARY_AGE_S = 3600
SWEEP_EVERY_S = 60
LOCK_POLL_S = 0.01

_MAX_FOLDERS_REMEMBERED = 1000
_TEMPORARY = re.compile(re.escape(TEMPORARY_PREFIX) + rb"[0-9a-f]{16}")
# When each folder (by device and inode) was swept last: a look through a large one costs more than the write itself.
_swept: dict[tuple[int, int], float] = {}


def write_file(
    root_fd: int,
    parts: Parts,
    data: bytes,
    *,
    append: bool,
    stop: StopSignal,
    reserved: bytes | None = None,
    temporary_fd: int | None = None,
) -> int:
    """Write `parts` below the root, making its folders; give the file's size in bytes afterwards.

    `temporary_fd` is the folder for the unfinished file (same file system), by default the file's own.
    Raises what `open_folder` and `open_regular` do, ToolError (no space) and Cancelled.
    """
    if not parts:
        raise InvalidInput("`path` names a folder, not a file.", field="path")
    refuse_reserved(parts, reserved)
    with _in_our_words(), open_folder(root_fd, parts[:-1], reserved=reserved, make=True) as parent_fd:
        name = existing_name(parent_fd, parts[-1])
        if append and _exists(parent_fd, name, parts):
            return _append(parent_fd, name, data, way=parts, stop=stop)
        if temporary_fd is None:
            temporary_fd = parent_fd
            _sweep(parent_fd)
        return _replace(parent_fd, name, data, way=parts, stop=stop, temporary_fd=temporary_fd)


def _exists(parent_fd: int, name: bytes, way: Parts) -> bool:
    try:
        check_regular(os.stat(name, dir_fd=parent_fd, follow_symlinks=False), way)
    except FileNotFoundError:
        return False
    return True


def _replace(parent_fd: int, name: bytes, data: bytes, *, way: Parts, stop: StopSignal, temporary_fd: int) -> int:
    """Put the data in a new file under another name, then give it the name in one step."""
    mode = _mode_for(parent_fd, name, way)
    temporary = TEMPORARY_PREFIX + secrets.token_hex(8).encode()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE_FLAGS
    fd = os.open(temporary, flags, 0o600, dir_fd=temporary_fd)
    try:
        write_all(fd, data, stop)
        os.fchmod(fd, mode)
        os.rename(temporary, name, src_dir_fd=temporary_fd, dst_dir_fd=parent_fd)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=temporary_fd)
        raise
    finally:
        os.close(fd)
    return len(data)


def _sweep(folder_fd: int) -> None:
    """Remove the unfinished files that killed writers left in a folder; at most once a minute for each folder."""
    found = os.fstat(folder_fd)
    folder, now = (found.st_dev, found.st_ino), time.monotonic()
    if now - _swept.get(folder, -SWEEP_EVERY_S) < SWEEP_EVERY_S:
        return
    if len(_swept) >= _MAX_FOLDERS_REMEMBERED:
        _swept.clear()
    _swept[folder] = now
    with suppress(OSError):
        for name in map(os.fsencode, os.listdir(folder_fd)):
            if _TEMPORARY.fullmatch(name) and _is_abandoned(folder_fd, name):
                os.unlink(name, dir_fd=folder_fd)


def _is_abandoned(folder_fd: int, name: bytes) -> bool:
    found = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    return stat.S_ISREG(found.st_mode) and time.time() - found.st_mtime > MAX_TEMPORARY_AGE_S


def _mode_for(parent_fd: int, name: bytes, way: Parts) -> int:
    """Keep the mode of the file that is replaced; a new one is as open as its folder."""
    if _exists(parent_fd, name, way):
        return stat.S_IMODE(os.stat(name, dir_fd=parent_fd, follow_symlinks=False).st_mode) & 0o777
    return stat.S_IMODE(os.fstat(parent_fd).st_mode) & 0o666 | 0o600


def _append(parent_fd: int, name: bytes, data: bytes, *, way: Parts, stop: StopSignal) -> int:
    """Add to the end under a lock; a write that fails half-way is taken back."""
    fd = open_regular(parent_fd, name, way=way, flags=os.O_WRONLY | os.O_APPEND)
    try:
        lock(fd, stop)
        before = os.fstat(fd).st_size
        try:
            write_all(fd, data, stop)
        except BaseException:
            os.ftruncate(fd, before)
            raise
        return before + len(data)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes, stop: StopSignal) -> None:
    view = memoryview(data)
    while view:
        refuse_stopped(stop)
        view = view[os.write(fd, view[:MIB]) :]


def lock(fd: int, stop: StopSignal) -> None:
    """Wait for the file's lock without becoming deaf to a stop; closing the handle gives it back."""
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            refuse_stopped(stop)
            time.sleep(LOCK_POLL_S)


def refuse_stopped(stop: StopSignal) -> None:
    if stop.is_set():
        raise Cancelled("The call was stopped.")


def size_of(root_fd: int, parts: Parts) -> int | None:
    """Give the size in bytes of what is there under that name, None when nothing is."""
    try:
        with open_folder(root_fd, parts[:-1]) as parent_fd:
            name = existing_name(parent_fd, parts[-1])
            return os.stat(name, dir_fd=parent_fd, follow_symlinks=False).st_size
    except (FileNotFoundError, NotFound):
        return None


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Turn what the operating system refuses into errors that name no path of the host."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ToolError("The server's disk is full; nothing was written.", hint="Free some space.") from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise PermissionDenied("This server may not write there.", field="path") from None
        if error.errno == errno.ENOENT:
            raise missing(()) from None
        raise
