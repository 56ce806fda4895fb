"""The home folder: made private, owned by one running instance, never opened by an older version."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forja_site.whole_file import write_whole


class CannotStart(Exception):
    """Forja cannot start; the message is one sentence for a person, with the way out."""


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds a home: the supervisor's process id and the address of its pages."""

    pid: int
    url: str


def open_home(home: Path) -> None:
    """Make the home with its folders, all private, or raise CannotStart."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Somebody's own folder with other things in it keeps its mode until it is ours.
        if (home / "version").exists() or not any(home.iterdir()):
            home.chmod(0o700)
        with tempfile.TemporaryFile(dir=home):
            pass
        for folder in ("run", "logs"):
            private_folder(home / folder)
    except OSError as error:
        raise CannotStart(
            f"The home folder {home} cannot be written ({error.strerror}): give this user the right to,"
            " or choose another with FORJA_HOME=FOLDER."
        ) from error


def private_folder(path: Path) -> None:
    """Make a folder that only this user can enter, and be sure it is one."""
    path.mkdir(mode=0o700, exist_ok=True)
    state = path.lstat()
    if path.is_symlink() or state.st_uid != os.getuid():
        raise CannotStart(f"{path} belongs to somebody else: remove it or choose another home with FORJA_HOME=FOLDER.")
    path.chmod(0o700)


@contextlib.contextmanager
def held(home: Path, *, url: str) -> Iterator[None]:
    """Hold the home's lock, or raise CannotStart saying who does."""
    descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(already_running(home)) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "url": url}).encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def holder(home: Path) -> Holder | None:
    """Give who runs this home now, or None."""
    try:
        descriptor = os.open(home / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return _read_holder(os.pread(descriptor, 4096, 0))
    finally:
        os.close(descriptor)


def _read_holder(raw: bytes) -> Holder:
    try:
        found = json.loads(raw)
        return Holder(pid=int(found["pid"]), url=str(found["url"]))
    except (ValueError, KeyError, TypeError):
        return Holder(pid=0, url="")


def already_running(home: Path) -> str:
    owner = holder(home)
    where = f" at {owner.url} (process {owner.pid})" if owner and owner.url else ""
    return (
        f"Forja already runs for {home}{where}: use that one, stop it, or choose another home with FORJA_HOME=FOLDER."
    )


def check_version(home: Path, *, version: str) -> str:
    """Give the version that last wrote this home (empty for a new one), or raise CannotStart when it is newer."""
    try:
        found = (home / "version").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    if _numbers(found) > _numbers(version):
        raise CannotStart(
            f"The home {home} was written by Forja {found}, and this is the older {version}:"
            f" start Forja {found} or newer, or choose another home with FORJA_HOME=FOLDER."
        )
    return found


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() else 0 for part in version.split("."))


def make_secret_key(home: Path) -> None:
    """Make the key that signs the pages' cookies, once."""
    path = home / "secret-key"
    if not path.is_file() or not path.read_text(encoding="utf-8").strip():
        write_whole(path, secrets.token_urlsafe(48) + "\n")
