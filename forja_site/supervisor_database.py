"""Bringing a home's database to this version, with a copy of an older one first."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from forja_site.supervisor_child import Say
from forja_site.supervisor_home import private_folder


def prepare_database(*, home: Path, written_by: str, say: Say) -> None:
    """Apply what is pending; an SQLite database that an earlier start wrote is copied to `backups/` before."""
    from django.core.management import call_command
    from django.db import connection

    pending = _pending(connection)
    if not pending:
        return
    if connection.vendor == "sqlite" and written_by:
        copy = _copy(Path(connection.settings_dict["NAME"]), into=home / "backups", version=written_by)
        say(f"The database of version {written_by} is kept as {copy}.")
    say(f"Preparing the database ({pending} steps) …")
    call_command("migrate", verbosity=0, interactive=False)


def leave_database() -> None:
    """Give up this process's connections: the supervisor lives long and needs none."""
    from django.db import connections

    connection: Any = connections["default"]
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()


def _pending(connection: Any) -> int:
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _copy(database: Path, *, into: Path, version: str) -> Path:
    private_folder(into)
    target = into / f"forja-{version}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.sqlite3"
    # Not a copy of the file: its latest rows may still be in the write-ahead log.
    source, copy = sqlite3.connect(database), sqlite3.connect(target)
    try:
        source.backup(copy)
    finally:
        source.close()
        copy.close()
    target.chmod(0o600)
    return target
