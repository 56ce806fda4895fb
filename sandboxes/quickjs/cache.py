"""The private folder that holds the compiled engine: native code, so it is checked before every use.

A file's name carries what it was made from and its own SHA-256; one that does not match is removed and made
again, never executed. The folder must be ours alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sandboxes.errors import EngineUnavailable
from sandboxes.quickjs import snapshot
from sandboxes.quickjs.build import COMMAND, mismatch, sha256_of
from sandboxes.quickjs.pins import ENGINE_SHA256

_SUFFIX = ".cwasm"
# Names the settings of vm.make_config, which is not imported here: the parent of a child host needs no wasmtime.
CONFIG_VERSION = "epoch-cow-speed-2MiB-1"


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A compiled engine and the hash it must have when it is loaded."""

    path: Path
    sha256: str


class DamagedCache(Exception):
    """The compiled engine is not what was written, or not for this processor; make it again."""


def check_engine(wasm: Path) -> None:
    """Raise EngineUnavailable when the built engine is missing, EngineMismatch when it is not the pinned one."""
    if not wasm.is_file():
        raise EngineUnavailable(f"the JavaScript engine is not built: {wasm.name} is missing", hint=f"Run: {COMMAND}")
    found = sha256_of(wasm)
    if found != ENGINE_SHA256:
        raise mismatch(found=found, what="the built JavaScript engine")


def open_folder(folder: Path) -> Path:
    """Make the folder if need be and make sure it is a real folder, ours, and closed to everybody else."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise EngineUnavailable(f"the engine's cache folder cannot be used: {error.strerror}") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise EngineUnavailable(
            "the engine's cache folder is a link or belongs to somebody else; nothing in it is executed",
            hint="Remove it; it is made again.",
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)
        _forget(folder.glob(f"*{_SUFFIX}"))  # while it was open, others could write here
    return folder


def key_of(*, prelude: str) -> str:
    """Name what a compiled engine is made from, this machine included."""
    parts = (
        ENGINE_SHA256,
        hashlib.sha256(prelude.encode()).hexdigest(),
        str(snapshot.VERSION),
        version("wasmtime"),
        CONFIG_VERSION,
        platform.machine(),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def find(folder: Path, *, key: str) -> Compiled | None:
    """Find the compiled engine and check it; a damaged one is removed."""
    for path in sorted(folder.glob(f"{key}-*{_SUFFIX}")):
        compiled = Compiled(path=path, sha256=path.stem.removeprefix(f"{key}-"))
        try:
            check(compiled)
        except DamagedCache:
            _forget([path])
        else:
            return compiled
    return None


def check(compiled: Compiled) -> None:
    """Raise DamagedCache unless the file is a plain file with the recorded hash."""
    try:
        is_plain = stat.S_ISREG(compiled.path.lstat().st_mode)
        if is_plain and sha256_of(compiled.path) == compiled.sha256:
            return
    except OSError as error:
        raise DamagedCache(str(error)) from error
    raise DamagedCache(f"{compiled.path.name} has changed")


def store(folder: Path, *, key: str, code: bytes) -> Compiled:
    """Write a compiled engine with one rename, and drop those made from something else."""
    sha256 = hashlib.sha256(code).hexdigest()
    path = folder / f"{key}-{sha256}{_SUFFIX}"
    handle, name = tempfile.mkstemp(dir=folder, prefix=".new-")
    with os.fdopen(handle, "wb") as file:
        file.write(code)
        file.flush()
        os.fsync(file.fileno())
    os.replace(name, path)
    _forget(other for other in folder.glob(f"*{_SUFFIX}") if other != path)
    return Compiled(path=path, sha256=sha256)


def discard(folder: Path) -> None:
    """Drop every compiled engine, so that the next one is made anew."""
    _forget(folder.glob(f"*{_SUFFIX}"))


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock: whoever waits for it finds the engine made."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _forget(paths: Iterator[Path] | list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
