"""The few statements that every run makes several times, written out: the ORM takes longer to build one of them
than the database to carry it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

from runs.models import Run, RunEvent


def _columns(model: type[Model]) -> dict[str, Any]:
    return {field.name: field for field in model._meta.concrete_fields}


_RUN = _columns(Run)
_EVENT = _columns(RunEvent)
_EVENT_NAMES = ("run", "seq", "at", "kind", "data")
_INSERT_EVENT = (
    f"INSERT INTO {RunEvent._meta.db_table} ({', '.join(_EVENT[name].column for name in _EVENT_NAMES)})"
    f" VALUES ({', '.join('%s' for _ in _EVENT_NAMES)})"
)


def advance_run(run: Run, *, by: int, statuses: Iterable[str], changes: Mapping[str, Any]) -> int | None:
    """Change a run's row and give its new `last_seq`; None when its status is none of `statuses` (empty: any)."""
    allowed = list(statuses)
    sets = [f"{_RUN[name].column} = %s" for name in changes]
    values = [_RUN[name].get_db_prep_save(value, connection) for name, value in changes.items()]
    where = f" AND status IN ({', '.join('%s' for _ in allowed)})" if allowed else ""
    sql = (
        f"UPDATE {Run._meta.db_table} SET {', '.join(['last_seq = last_seq + %s', *sets])}"
        f" WHERE number = %s{where} RETURNING last_seq"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [by, *values, run.pk, *allowed])
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def insert_events(run: Run, rows: Sequence[tuple[int, Any, str, dict[str, Any]]]) -> None:
    """Write events given as `(seq, at, kind, data)`."""
    prepared = [
        [
            _EVENT[name].get_db_prep_save(value, connection)
            for name, value in zip(_EVENT_NAMES, (run.pk, *row), strict=True)
        ]
        for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_INSERT_EVENT, prepared)
