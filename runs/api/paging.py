"""Keyset pages: each starts after the last row of the one before, however many rows came in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Model, QuerySet

from runs.api.parameters import EXACT_UP_TO, decode_cursor, encode_cursor


def page_of(
    rows: QuerySet[Any],
    *,
    key: str,
    key_pattern: str,
    cursor: str,
    limit: int,
    show: Callable[[list[Any]], list[dict[str, Any]]],
) -> dict[str, Any]:
    """Give `{items, nextCursor, total: {count, exact}}`, newest first by the unique column `key`."""
    ordered = rows.order_by(f"-{key}")
    if cursor:
        ordered = ordered.filter(**{f"{key}__lt": decode_cursor(cursor, key_pattern)})
    found: list[Model] = list(ordered[: limit + 1])
    more = len(found) > limit
    return {
        "items": show(found[:limit]),
        "nextCursor": encode_cursor(str(getattr(found[limit - 1], key))) if more else None,
        "total": total_of(rows),
    }


def total_of(rows: QuerySet[Any]) -> dict[str, Any]:
    count = rows.order_by()[: EXACT_UP_TO + 1].count()
    return {"count": min(count, EXACT_UP_TO), "exact": count <= EXACT_UP_TO}
