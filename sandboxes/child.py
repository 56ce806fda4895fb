"""The one way to start a child process: labelled, in a session of its own, and dead when its parent is.

`launcher.py` runs in front of the command. It asks the kernel for the parent-death signal, gives up gaining
privileges and sets the limits, then becomes the command. Doing that between fork and exec in the parent is not
safe in a process with threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO, Any

LABEL = "FORJA_INSTANCE"

# Address space is generous because an engine reserves 4 GiB per memory without using it.
_GIB = 1024**3
ENGINE = {"core": 0, "nofile": 64, "as": 12 * _GIB, "fsize": 0}
COMPILER = {"core": 0, "nofile": 128, "as": 12 * _GIB}

_LAUNCHER = Path(__file__).resolve().with_name("launcher.py")
_ROOT = str(_LAUNCHER.parents[1])

Stream = int | IO[Any] | None


def python_command(module: str, *arguments: str) -> list[str]:
    """Give the command that runs one of our modules, isolated from the environment and the user's packages."""
    code = (
        f"import runpy, sys; sys.path.insert(0, {_ROOT!r});"
        f" runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    )
    return [sys.executable, "-I", "-c", code, *arguments]


def start(
    command: Sequence[str],
    *,
    label: str,
    environment: Mapping[str, str] | None = None,
    cwd: str = "/",
    limits: Mapping[str, int] | None = None,
    no_new_privileges: bool = True,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = subprocess.DEVNULL,
    stderr: Stream = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a child with nothing inherited but what is named here.

    `limits` maps names of `resource.RLIMIT_*` (lower case) to values. Only our own long-lived programs go without
    `no_new_privileges`: what they start may be a set-uid tool. Raises OSError when it cannot be started.
    """
    order = json.dumps({"parent": os.getpid(), "limits": dict(limits or {}), "no_new_privileges": no_new_privileges})
    launcher = [sys.executable, "-I", "-S", str(_LAUNCHER), order, *command]

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            launcher,
            env={LABEL: label, **(environment or {})},
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )

    return _SPAWNER.start(begin)


def end(process: subprocess.Popen[bytes], *, grace_s: float = 0.0) -> int:
    """End a child and its whole session, politely first when given time; gives the exit status."""
    if process.poll() is None and grace_s > 0:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)
    if process.poll() is None:
        _signal(process, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    return process.wait()


def kill(process: subprocess.Popen[bytes]) -> None:
    """Send SIGKILL to a child and its session; whoever waits for it reaps it."""
    if process.poll() is None:
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


# ── The thread that starts children ─────────────────────────────────────────────────────────────
# The parent-death signal comes when the *thread* that forked ends, so one that never does starts them all.


Begin = Callable[[], subprocess.Popen[bytes]]
Started = Future[subprocess.Popen[bytes]]


class _Spawner:
    def __init__(self) -> None:
        self._orders: queue.SimpleQueue[tuple[Begin, Started]] | None = None
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def start(self, begin: Begin) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._orders is None:
                self._orders = queue.SimpleQueue()
                threading.Thread(target=self._serve, args=(self._orders,), name="forja-spawner", daemon=True).start()
            started: Started = Future()
            self._orders.put((begin, started))
        return started.result()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._orders = None

    @staticmethod
    def _serve(orders: queue.SimpleQueue[tuple[Begin, Started]]) -> None:
        while True:
            begin, started = orders.get()
            try:
                started.set_result(begin())
            except BaseException as error:  # noqa: BLE001 - raised where it was asked for
                started.set_exception(error)
            del begin, started


_SPAWNER = _Spawner()
