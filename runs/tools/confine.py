"""Reaching files by directory handles, one name at a time, so that no link and no swap can lead outside.

Each folder is opened relative to the one above it and never through a link; a file counts only once its
open handle says that it is a regular file with one name. Nothing is ever decided on a path's text.
"""

from __future__ import annotations

import itertools
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from runs.tools.paths import SCRATCH_PREFIX, Parts, show_name, show_names
from sandboxes.errors import InvalidInput, NotFound, PermissionDenied

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
FILE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

MAX_NAMES_COMPARED = 20_000


@contextmanager
def open_folder(root_fd: int, parts: Parts, *, reserved: bytes | None = None, make: bool = False) -> Iterator[int]:
    """Give a handle on the folder `parts` below the root; with `make`, missing folders are created.

    Raises NotFound, PermissionDenied (the reserved name), InvalidInput (a link or no folder on the way).
    """
    refuse_reserved(parts, reserved)
    kept_away = _identity(root_fd, reserved)
    fd = os.dup(root_fd)
    try:
        for depth, name in enumerate(parts):
            below = _enter(fd, name, parts[: depth + 1], make)
            os.close(fd)
            fd = below
            if kept_away is not None and os.path.samestat(kept_away, os.fstat(fd)):
                raise _reserved(parts[: depth + 1])
        yield fd
    finally:
        os.close(fd)


def _enter(fd: int, name: bytes, way: Parts, make: bool) -> int:
    name = existing_name(fd, name)
    try:
        return os.open(name, FOLDER_FLAGS, dir_fd=fd)
    except FileNotFoundError:
        if not make:
            raise missing(way) from None
    except OSError as error:
        raise _explain(fd, name, way, error) from None
    with_mode = stat.S_IMODE(os.fstat(fd).st_mode) & 0o777 | 0o700
    with suppress(FileExistsError):
        os.mkdir(name, with_mode, dir_fd=fd)
    return _enter(fd, name, way, make=False)


@contextmanager
def open_file(root_fd: int, parts: Parts, *, reserved: bytes | None = None) -> Iterator[int]:
    """Give a readable handle on the regular file `parts`; raises as `open_folder` does."""
    if not parts:
        raise InvalidInput("`path` names a folder, not a file.", field="path")
    refuse_reserved(parts, reserved)
    with open_folder(root_fd, parts[:-1], reserved=reserved) as parent_fd:
        fd = open_regular(parent_fd, existing_name(parent_fd, parts[-1]), way=parts, flags=os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def open_regular(parent_fd: int, name: bytes, *, way: Parts, flags: int) -> int:
    """Open one file in a folder, or refuse it; the handle it gives is of a regular file with one name."""
    try:
        # Looked at first so that a device is never even opened; the handle is what decides.
        check_regular(os.stat(name, dir_fd=parent_fd, follow_symlinks=False), way)
        fd = os.open(name, flags | FILE_FLAGS, dir_fd=parent_fd)
    except FileNotFoundError:
        raise missing(way) from None
    except OSError as error:
        raise _explain(parent_fd, name, way, error) from None
    try:
        check_regular(os.fstat(fd), way)
    except BaseException:
        os.close(fd)
        raise
    return fd


def check_regular(found: os.stat_result, way: Parts) -> None:
    """Refuse what is no regular file, and a file that has a second name somewhere."""
    shown = _quote(way)
    if stat.S_ISLNK(found.st_mode):
        raise _linked(way)
    if stat.S_ISDIR(found.st_mode):
        raise InvalidInput(f"{shown} is a folder, not a file.", hint="Use list_files for folders.", field="path")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{shown} is a special file.", hint="Only regular files can be used.", field="path")
    # 0 is a file that was replaced by a rename since it was opened: its text is whole, only older.
    if found.st_nlink > 1:
        raise InvalidInput(f"{shown} is a hard link.", hint="Make a copy of it and use the copy.", field="path")


def existing_name(fd: int, name: bytes) -> bytes:
    """Give the name as it is stored: the same one, or the one that differs only in how accents are composed."""
    if name.isascii() or _is_there(fd, name):
        return name
    wanted = composed(name)
    with os.scandir(fd) as entries:
        for entry in itertools.islice(entries, MAX_NAMES_COMPARED):
            if not entry.name.isascii() and composed(os.fsencode(entry.name)) == wanted:
                return os.fsencode(entry.name)
    return name


def _is_there(fd: int, name: bytes) -> bool:
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except OSError:
        return False
    return True


def composed(name: bytes) -> str:
    return unicodedata.normalize("NFC", name.decode(errors="surrogateescape"))


def refuse_reserved(parts: Parts, reserved: bytes | None) -> None:
    """Refuse the reserved name at the top, however it is spelt."""
    if parts and is_reserved(parts[0], reserved):
        raise _reserved(parts[:1])


def is_reserved(name: bytes, reserved: bytes | None) -> bool:
    return reserved is not None and _folded(name) == _folded(reserved)


def _folded(name: bytes) -> str:
    """Fold case, look-alikes, invisible characters and trailing dots: some file systems see no difference."""
    text = unicodedata.normalize("NFKC", name.decode(errors="surrogateescape")).casefold()
    return "".join(char for char in text if unicodedata.category(char) != "Cf").rstrip(". ")


def _identity(root_fd: int, reserved: bytes | None) -> os.stat_result | None:
    """Give what the reserved folder is, so that it is known under any other name too.

    It has one when it is a link itself, is mounted elsewhere, or lies on a case-insensitive file system.
    """
    if reserved is None:
        return None
    try:
        return os.stat(reserved, dir_fd=root_fd)
    except OSError:
        return None


def _reserved(parts: Parts) -> PermissionDenied:
    return PermissionDenied(
        f"{_quote(parts)} holds Forja's own settings; the file tools never touch it.",
        hint="Choose another folder.",
        field="path",
    )


def missing(way: Parts) -> NotFound:
    hint = "list_files shows what there is."
    if way and way[0].startswith(SCRATCH_PREFIX.encode()):
        hint = f"Write `{SCRATCH_PREFIX}` once, at the very start; {hint}"
    return NotFound(f"{_quote(way)} does not exist.", hint=hint, field="path")


def _linked(way: Parts) -> InvalidInput:
    return InvalidInput(
        f"{_quote(way)} is a symbolic link.", hint="Links are not followed: use the real path.", field="path"
    )


def _explain(fd: int, name: bytes, way: Parts, error: OSError) -> Exception:
    """Say in our words why a name could not be opened; the operating system's words hold host paths."""
    try:
        mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
    except OSError:
        return missing(way)
    if stat.S_ISLNK(mode):
        return _linked(way)
    if isinstance(error, NotADirectoryError):
        return InvalidInput(f"{_quote(way)} is not a folder.", field="path")
    if isinstance(error, PermissionError):
        return PermissionDenied(f"{_quote(way)} may not be read by this server.", field="path")
    return InvalidInput(f"{_quote(way)} cannot be opened.", field="path")


def _quote(way: Parts) -> str:
    shown = show_names(way) if len(way) <= 8 else f"…/{show_name(way[-1])}"
    return f"`{shown[:300]}`"
