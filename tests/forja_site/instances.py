"""Whole instances as real processes, and what can be seen of them from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from forja_site.instance import instance_label
from forja_site.supervisor_sweep import labelled
from tests.live import ROOT, LiveForja, wait_until

GONE_S = 10.0
ENDLESS = "while (true) {}"


def processes(forja: LiveForja) -> list[int]:
    """Give everything that runs for this home, the supervisor excepted."""
    return labelled(instance_label(forja.home))


def pid_of(forja: LiveForja, name: str) -> int:
    """Give the process of one child: "celery", "forja_site.web" or "valkey-server"."""
    found: list[int] = []

    def look() -> bool:
        # Between the launcher and the program itself a process has neither name for a moment.
        found[:] = [pid for pid in processes(forja) if name in _command(pid)]
        return bool(found)

    wait_until(look, 20)
    return found[0]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def wait_until_gone(forja: LiveForja) -> None:
    wait_until(lambda: not processes(forja), GONE_S, explain=lambda: str([_command(pid) for pid in processes(forja)]))


def try_to_serve(home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py serve` where it is expected to refuse."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("FORJA_")}
    for name in ("SECRET_KEY", "ALLOWED_HOSTS", "HOST", "PORT"):
        kept.pop(name, None)
    return subprocess.run(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=kept | {"FORJA_HOME": str(home), "DJANGO_SETTINGS_MODULE": "forja_site.settings"} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def ignore_interrupts() -> None:
    """What a shell does to a job that it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
