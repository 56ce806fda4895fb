"""The one way from the event loop to the database: a hop to a thread that keeps its connection warm.

A hop gives its connection back before it returns (PostgreSQL, pooled), so nothing is held while a
caller waits. SQLite's connection costs more to open than to keep, so each thread keeps its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

T = TypeVar("T")

READERS = 4

# SQLite lets one writer in at a time and makes the others poll: writes of this process queue here instead.
_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="forja-write")
_readers = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="forja-read")


async def reading(function: Callable[[], T]) -> T:
    """Run a function that only reads."""
    return await asyncio.get_running_loop().run_in_executor(_readers, _released, function)


async def writing(function: Callable[[], T]) -> T:
    """Run a function that may write."""
    pool = _writer if connection.vendor == "sqlite" else _readers
    return await asyncio.get_running_loop().run_in_executor(pool, _released, function)


def _released(function: Callable[[], T]) -> T:
    try:
        return function()
    finally:
        if connection.vendor == "sqlite":
            connection.close_if_unusable_or_obsolete()
        else:
            connection.close()
