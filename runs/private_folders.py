"""Folders that only we can open: made 0700 and verified by handle, also below a folder that others share."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from runs.tools.confine import FOLDER_FLAGS

PRIVATE_MODE = 0o700

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class NotPrivate(Exception):
    """A folder that somebody else could look into or replace; the text says which and why, without its path."""


def folder_name(name: str) -> str:
    """Give a name that is safe as a folder's: itself when it is plain, else a stand-in that no other name has."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)[:32]}.{digest[:16]}"


@contextmanager
def open_base(path: Path) -> Iterator[int]:
    """Give a handle on the folder to start from, made when missing.

    It may be shared, like /tmp, but nobody else may be able to rename what we put there. Raises NotPrivate, OSError.
    """
    path.mkdir(mode=PRIVATE_MODE, parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        found = os.fstat(fd)
        if found.st_uid not in (0, os.geteuid()):
            raise NotPrivate("the base folder belongs to another user")
        if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
            raise NotPrivate("others can rename what is in the base folder")
        yield fd
    finally:
        os.close(fd)


@contextmanager
def open_private(fd: int, levels: Sequence[str], *, make: bool) -> Iterator[int]:
    """Give a handle on the folder `levels` below `fd`, each of them ours, 0700 and no link.

    Raises NotPrivate, and FileNotFoundError when one is missing and `make` is off.
    """
    at = os.dup(fd)
    try:
        for name in levels:
            below = _open_level(at, name, make)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def _open_level(fd: int, name: str, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, PRIVATE_MODE, dir_fd=fd)
    try:
        below = os.open(name, FOLDER_FLAGS, dir_fd=fd)
    except FileNotFoundError:
        raise
    except OSError:
        raise NotPrivate(f"`{name}` is not a folder we can open") from None
    try:
        _verify(os.fstat(below), name)
    except NotPrivate:
        os.close(below)
        raise
    return below


def _verify(found: os.stat_result, name: str) -> None:
    if found.st_uid != os.geteuid():
        raise NotPrivate(f"`{name}` belongs to another user")
    if stat.S_IMODE(found.st_mode) & 0o777 != PRIVATE_MODE:
        raise NotPrivate(f"`{name}` is open to others")
