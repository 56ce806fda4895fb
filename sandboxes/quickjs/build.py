"""Builds the JavaScript engine at set-up: `python -m sandboxes.quickjs.build [--into DIR]`.

Sources and compiler come from the package index by pinned hash, live in a temporary folder while it works
and are gone afterwards. The result is the same byte for byte wherever it is built, and is checked.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from sandboxes.errors import EngineMismatch, EngineUnavailable
from sandboxes.quickjs.pins import ENGINE_SHA256, QUICKJS_SOURCE, ZIG_COMPILER, Pin

ROOT = Path(__file__).resolve().parents[2]
GUESTS = ROOT / "sandboxes" / "guests"
DEFAULT_FOLDER = ROOT / ".build"
FILE_NAME = "quickjs.wasm"
COMMAND = "python -m sandboxes.quickjs.build"

_OURS = ("shim.c", "engine.c")
# quickjs.c is not named: engine.c includes it.
_THEIRS = ("libregexp.c", "libunicode.c", "dtoa.c")
# Names are relative to the source folder, so that no path of this machine reaches the result.
_FLAGS = (
    "-target",
    "wasm32-wasi",
    "-mexec-model=reactor",
    "-O2",
    "-fno-strict-aliasing",
    "-funsigned-char",
    "-fwrapv",
    "-fno-sanitize=undefined",
    "-D_GNU_SOURCE",
    "-DQUICKJS_NG_BUILD",
    "-D_WASI_EMULATED_PROCESS_CLOCKS",
    "-D_WASI_EMULATED_SIGNAL",
    "-lwasi-emulated-process-clocks",
    "-lwasi-emulated-signal",
    "-I.",
    "-Wl,-z,stack-size=2097152",
    "-Wl,--export=__stack_pointer",
    "-Wl,--strip-all",
    "-Wno-everything",
)

Say = Callable[[str], None]

# Stands in for the source package's build backend: pip insists on its metadata before it hands over a source
# package, and this way nothing that the package brings is executed.
_STAND_IN = """\
import pathlib
def get_requires_for_build_wheel(config_settings=None):
    return []
def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, "{stem}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\\nName: {package}\\nVersion: {version}\\n")
    return folder.name
"""


def build(*, into: Path = DEFAULT_FOLDER, say: Say = print) -> Path:
    """Build the engine into a folder, unless the right one is there; gives its path.

    Raises EngineUnavailable when a piece cannot be had, EngineMismatch when a hash is not the pinned one.
    """
    target = into / FILE_NAME
    if target.is_file() and sha256_of(target) == ENGINE_SHA256:
        say(f"JavaScript engine: already built ({target})")
        return target
    _require_machine()
    with tempfile.TemporaryDirectory(prefix="forja-engine-") as name:
        made = compile_engine(work=Path(name), say=say)
        found = sha256_of(made)
        if found != ENGINE_SHA256:
            raise mismatch(found=found, what="the engine that was just built")
        _put_in_place(made, target=target)
    say(f"JavaScript engine: ready ({target})")
    return target


def compile_engine(*, work: Path, say: Say) -> Path:
    """Fetch, unpack and compile inside `work`; gives the unchecked module."""
    started = time.monotonic()
    say("JavaScript engine: 1/3 fetching sources and compiler …")
    archive = _fetch(QUICKJS_SOURCE, work=work)
    wheel = _fetch(ZIG_COMPILER, work=work)
    say("JavaScript engine: 2/3 unpacking …")
    sources = _unpack_sources(archive, into=work / "sources")
    zig = _unpack_compiler(wheel, into=work / "compiler")
    say("JavaScript engine: 3/3 compiling (about half a minute) …")
    made = _compile(zig=zig, sources=sources, work=work)
    say(f"JavaScript engine: built in {time.monotonic() - started:.0f} s")
    return made


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def mismatch(*, found: str, what: str, pinned: str = ENGINE_SHA256) -> EngineMismatch:
    return EngineMismatch(
        f"{what} has SHA-256 {found}, but {pinned} is pinned; it is not used",
        hint=f"Delete it and build it again: {COMMAND}",
        found=found,
        pinned=pinned,
    )


def _require_machine() -> None:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise EngineUnavailable(
            f"the engine's pinned compiler is for Linux x86_64, this is {sys.platform} {platform.machine()}",
            hint="Run the set-up on Linux x86_64.",
        )


def _fetch(pin: Pin, *, work: Path) -> Path:
    """Download one pinned file with pip, which verifies the hash; executes nothing of it."""
    folder, requirements = work / pin.package, work / f"{pin.package}.txt"
    requirements.write_text(pin.requirement + "\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--requirement", str(requirements), "--dest", str(folder)]
    command += ["--no-build-isolation", "--no-binary=:all:"] if pin.is_source else ["--only-binary=:all:"]
    done = subprocess.run(command, env=_pip_environment(pin, work=work), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EngineUnavailable(
            f"could not fetch {pin.package} {pin.version}: {_last_lines(done.stderr)}",
            hint="Check the connection to the package index, then run the set-up again.",
        )
    return _verified(folder, pin=pin)


def _verified(folder: Path, *, pin: Pin) -> Path:
    [file] = folder.iterdir()
    found = sha256_of(file)
    if found != pin.sha256:
        raise mismatch(found=found, what=f"{pin.package} {pin.version}", pinned=pin.sha256)
    return file


def _pip_environment(pin: Pin, *, work: Path) -> dict[str, str]:
    if not pin.is_source:
        return dict(os.environ)
    stand_in = work / "stand-in"
    (stand_in / "setuptools").mkdir(parents=True)
    (stand_in / "setuptools" / "__init__.py").touch()
    text = _STAND_IN.format(
        stem=f"{pin.package.replace('-', '_')}-{pin.version}", package=pin.package, version=pin.version
    )
    (stand_in / "setuptools" / "build_meta.py").write_text(text)
    return os.environ | {"PYTHONPATH": str(stand_in)}


def _unpack_sources(archive: Path, *, into: Path) -> Path:
    """Write out the engine's own C files, flat, beside our own two; nothing else of the package is unpacked."""
    into.mkdir()
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = Path(member.name).parts
            if member.isreg() and len(parts) == 3 and parts[1] == "upstream-quickjs":
                content = tar.extractfile(member)
                (into / parts[2]).write_bytes(content.read() if content else b"")
    for name in _OURS:
        shutil.copyfile(GUESTS / name, into / name)
    return into


def _unpack_compiler(wheel: Path, *, into: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(into)
    zig = into / "ziglang" / "zig"
    zig.chmod(0o700)
    return zig


def _compile(*, zig: Path, sources: Path, work: Path) -> Path:
    made = work / FILE_NAME
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(work / "cache"), "ZIG_LOCAL_CACHE_DIR": str(work / "cache")}
    command = [str(zig), "cc", *_FLAGS, *_OURS, *_THEIRS, "-o", str(made)]
    environment = {"PATH": os.defpath, "HOME": str(work)} | caches
    done = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EngineUnavailable(f"the engine did not compile: {_last_lines(done.stderr)}")
    return made


def _put_in_place(made: Path, *, target: Path) -> None:
    """Move the result in with one rename, so that nobody ever sees half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{FILE_NAME}.")
    os.close(handle)
    try:
        shutil.copyfile(made, name)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _last_lines(text: str, *, count: int = 3) -> str:
    return " / ".join(text.strip().splitlines()[-count:])[:600]


def main() -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Build the JavaScript engine.")
    parser.add_argument("--into", type=Path, default=DEFAULT_FOLDER, metavar="DIR", help="where it goes")
    try:
        build(into=parser.parse_args().into, say=lambda line: print(line, flush=True))
    except (EngineMismatch, EngineUnavailable) as error:
        print(f"{error.code}: {error.message}. {error.hint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
