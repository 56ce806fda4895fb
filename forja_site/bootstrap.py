"""The set-up behind `make run` and `make test`: `python3 -m forja_site.bootstrap [--dev]`.

Runs under the machine's own Python, before there is anything to import: standard library only. Says what it does
while it does it, and nothing when there is nothing to do. What was interrupted half-way is mended by the next start.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
BUILD = ROOT / ".build"
ENGINE = BUILD / "quickjs.wasm"
ENGINE_SOURCES = ("sandboxes/quickjs/build.py", "sandboxes/quickjs/pins.py", "sandboxes/guests/*.[ch]")
# What a user may have set for other work; here it would send packages elsewhere.
FOREIGN_VARIABLES = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PYTHONPATH", "PYTHONHOME")
TAIL_LINES = 12


class SetupFailed(Exception):
    """The set-up cannot go on; the message is for a person, with the way out."""


def say(line: str) -> None:
    print(f"Set-up: {line}", flush=True)


def set_up(*, dev: bool) -> None:
    """Make or mend the Python environment and the engine."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise SetupFailed(
            f"Forja sets itself up on Linux x86_64, and this is {sys.platform} {platform.machine()}:"
            " use such a machine or container, with python3 (3.11 or newer) and make on its PATH."
        )
    with _alone():
        make_environment(["requirements", "requirements-dev"] if dev else ["requirements"])
        make_engine()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of this folder …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ── The Python environment ──────────────────────────────────────────────────────────────────────


def make_environment(lists: Sequence[str]) -> None:
    """Install the lists of pinned packages that are not there and whole."""
    if _is_half_made() or not PYTHON.exists():
        _make_venv()
    missing = [name for name in lists if _text(_mark(name)) != _key(name) or not _is_whole(name)]
    if not missing:
        return
    if not _works(PYTHON):
        _make_venv()
        missing = list(lists)
    _half_made().touch()
    _install(missing)
    if not all(_is_whole(name) for name in lists):
        # A file of an installed package is gone, and pip takes a package for installed by its name alone.
        _make_venv()
        _half_made().touch()
        _install(lists)
    for name in lists:
        _mark(name).write_text(_key(name))
    _half_made().unlink()


def _mark(name: str) -> Path:
    return VENV / f".forja-{name}"


def _half_made() -> Path:
    return VENV / ".forja-half-made"


def _is_half_made() -> bool:
    return _half_made().exists()


def _key(name: str) -> str:
    return hashlib.sha256(sys.version.encode() + _file(name).read_bytes()).hexdigest()


def _file(name: str) -> Path:
    return ROOT / f"{name}.txt"


def _works(python: Path) -> bool:
    check = f"import sys, pip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        return subprocess.run([python, "-c", check], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _is_whole(name: str) -> bool:
    """Is every file there that the pinned packages of this list brought?"""
    site = VENV / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    return all(_has_files(site, *pin) for pin in _pins(name))


def _pins(name: str) -> list[tuple[str, str]]:
    lines = _file(name).read_text(encoding="utf-8").splitlines()
    pins = [line.split()[0].partition("==") for line in lines if "==" in line and line[:1].isalnum()]
    return [(package, version) for package, _, version in pins]


def _has_files(site: Path, name: str, version: str) -> bool:
    wanted = _plain(name), f"{version}.dist-info"
    folders = (found for found in site.glob("*.dist-info") if _name_and_rest(found) == wanted)
    record = next((found / "RECORD" for found in folders), None)
    if record is None or not record.is_file():
        return False
    files = [line.rsplit(",", 2)[0].strip('"') for line in record.read_text(encoding="utf-8").splitlines()]
    return all((site / file).exists() for file in files if not file.endswith(".pyc"))


def _name_and_rest(found: Path) -> tuple[str, str]:
    name, _, rest = found.name.partition("-")
    return _plain(name), rest


def _plain(name: str) -> str:
    """Give a package's name as one spelling: lists write `zope-interface` and folders `zope_interface`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _make_venv() -> None:
    say("making the Python environment .venv …")
    shutil.rmtree(VENV, ignore_errors=True)
    done = _run([sys.executable, "-m", "venv", str(VENV)])
    if done.returncode != 0 or not _works(PYTHON):
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetupFailed(
            f"{sys.executable} cannot make a virtual environment: install its venv module"
            f" (on Debian and Ubuntu: apt install python3-venv).\n{_tail(done.stdout)}"
        )


def _install(lists: Sequence[str]) -> None:
    count = len({pin for name in lists for pin in _pins(name)})
    say(f"installing {count} pinned packages (about half a minute) …")
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
    done = _run([*command, *(part for name in lists for part in ("--requirement", str(_file(name))))])
    if done.returncode != 0:
        raise SetupFailed(
            "The pinned packages could not be installed: check the connection to the package index,"
            f" then start this again.\n{_tail(done.stdout)}"
        )


# ── The engine ──────────────────────────────────────────────────────────────────────────────────


def make_engine() -> None:
    """Build the JavaScript engine unless the one built from these very sources is there."""
    mark = BUILD / "engine.stamp"
    if os.environ.get("FORJA_ENGINE_PATH") or _text(mark) == _engine_key():
        return
    done = subprocess.run([PYTHON, "-m", "sandboxes.quickjs.build"], cwd=ROOT, env=_environment(), check=False)
    if done.returncode != 0:
        raise SetupFailed("The JavaScript engine could not be built; the lines above say why.")
    mark.write_text(_engine_key())


def _engine_key() -> str:
    sources = sorted(path for pattern in ENGINE_SOURCES for path in ROOT.glob(pattern))
    digest = hashlib.sha256()
    for path in [*sources, ENGINE]:
        digest.update(path.read_bytes() if path.is_file() else b"missing")
    return digest.hexdigest()


# ── Running things ──────────────────────────────────────────────────────────────────────────────


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in FOREIGN_VARIABLES}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-TAIL_LINES:])


def _stop(number: int, frame: object) -> None:
    # As an exception, so that the program under way is ended as well.
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m forja_site.bootstrap", description="Set up Forja.")
    parser.add_argument("--dev", action="store_true", help="also what the tests and checks need")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        set_up(dev=options.dev)
    except SetupFailed as error:
        print(f"Set-up failed. {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Set-up failed: {error}. Does this user own the folder {ROOT}?", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Set-up stopped; the next start goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
