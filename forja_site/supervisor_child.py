"""One child of the supervisor: started, watched, started again with growing pauses, stopped with its whole session."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path

from sandboxes import child as children

LOG_BYTES = 4 * 1024 * 1024
LOG_LINE_BYTES = 4_000
TAIL_LINES = 15
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 30.0
# A child that lived this long was well: the next crash is a first one again.
STEADY_S = 60.0

Say = Callable[[str], None]


class Child:
    """A program that has to run as long as Forja does."""

    def __init__(
        self,
        *,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        logs: Path,
        say: Say,
    ) -> None:
        self.name = name
        self.crashes = 0
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._command = list(command)
        self._environment = dict(environment)
        self._folder = str(folder)
        self._say = say
        self._log = RotatingFileHandler(logs / f"{name}.log", maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None
        self._pump: threading.Thread | None = None
        self._started_at = 0.0
        self._restart_at = 0.0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        self._started_at = time.monotonic()
        self._process = children.start(
            self._command,
            label=self._environment[children.LABEL],
            environment=self._environment,
            cwd=self._folder,
            no_new_privileges=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._pump = threading.Thread(target=self._copy_lines, args=(self._process,), daemon=True)
        self._pump.start()

    def keep(self) -> None:
        """Start it again when it has ended, after a pause that grows with each crash in a row."""
        if self._process is None:
            if time.monotonic() >= self._restart_at:
                self.start()
        elif self._process.poll() is not None:
            self._note_crash(self._process.returncode)

    def _note_crash(self, status: int) -> None:
        self._signal(signal.SIGKILL)
        self._process = None
        lived_s = time.monotonic() - self._started_at
        self.crashes = 1 if lived_s > STEADY_S else self.crashes + 1
        pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (self.crashes - 1))
        self._restart_at = time.monotonic() + pause_s
        self._say(f"{self.name} {_how(status)}; starting it again in {pause_s:.1f} s (see {self._log.baseFilename})")

    def _copy_lines(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        while raw := process.stdout.readline(LOG_LINE_BYTES):
            line = raw.decode("utf-8", "replace").rstrip("\n")
            self.tail.append(line)
            self._log.emit(logging.makeLogRecord({"msg": line}))
            if " ERROR " in line or " CRITICAL " in line:
                self._say(f"{self.name}: {line}")

    def ask_to_stop(self) -> None:
        self._signal(signal.SIGTERM)

    def has_stopped(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def kill(self) -> None:
        """End it and its whole session now, and reap it."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        if self._pump is not None:
            self._pump.join(timeout=0.2)
        self._log.close()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        # The session's processes may outlive their leader, so the group is asked even when that has ended.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _how(status: int) -> str:
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"
