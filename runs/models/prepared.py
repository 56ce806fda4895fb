"""Queries of the hot path whose SQL is made once: making it costs several times what running it does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

M = TypeVar("M", bound=Model)


class Prepared(Generic[M]):
    """A query built from stand-in values, to be run with others of the same types in the same order.

    `build` gives the query; its `values` must appear in the SQL exactly once each, in that order.
    """

    def __init__(self, build: Callable[[], QuerySet[M]]) -> None:
        self._build = build
        self._sql: str | None = None

    def first(self, *values: Any) -> M | None:
        """The first row, in no particular order."""
        if self._sql is None:
            query = self._build()
            self._model = query.model
            self._sql, stand_ins = query.query.sql_with_params()
            assert len(stand_ins) == len(values), (self._sql, stand_ins)
        adapted = [_adapted(value) for value in values]
        return next(iter(self._model._default_manager.raw(self._sql, adapted)), None)


def _adapted(value: Any) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
