"""Figures as JSON shows them: counts and bytes whole, milliseconds to the microsecond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COUNTS = frozenset({"bytes", "completed", "total", "processes", "calls", "offset", "omitted"})


def figures_json(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same fields, each figure in its form; what is no figure stays as it is."""
    return {name: figure_json(name, value) for name, value in body.items()}


def figure_json(name: str, value: Any) -> Any:
    if not isinstance(value, float):
        return value
    if name.endswith("Ms"):
        return round(value, 3)
    is_count = name in _COUNTS or name.endswith("Bytes") or name.startswith("bytes")
    return int(value) if is_count and value.is_integer() else value
