"""Write transactions: one at a time per process where the database allows one writer at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

# SQLite's own wait for its write lock sleeps in growing steps; a lock of ours hands over at once.
_turn = threading.RLock()


@contextmanager
def write() -> Iterator[None]:
    """Open a transaction that writes."""
    if connection.vendor != "sqlite":
        with transaction.atomic():
            yield
        return
    with _turn, transaction.atomic():
        yield
