"""The backends there are, by name."""

from __future__ import annotations

from typing import Any

from sandboxes.quickjs.backend import QuickJS

BACKENDS: dict[str, type[Any]] = {
    QuickJS.name: QuickJS,
}
