"""The label that everything started for one FORJA_HOME carries."""

from __future__ import annotations

import hashlib
from pathlib import Path


def instance_label(home: Path) -> str:
    """Give 16 hexadecimal digits that stand for this home on this machine."""
    return hashlib.sha256(str(home.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
