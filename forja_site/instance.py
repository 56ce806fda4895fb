"""What belongs to one FORJA_HOME on this machine: the label all its processes carry, and the broker's socket."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

# Of the 108 bytes of sun_path one is the closing NUL.
MAX_SOCKET_PATH_BYTES = 107


def instance_label(home: Path) -> str:
    """Give 16 hexadecimal digits that stand for this home on this machine."""
    return hashlib.sha256(str(home.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def broker_socket(home: Path) -> Path:
    """Give where the embedded broker listens: in the home, or in /tmp when that path is too long."""
    inside = home / "run" / "broker.sock"
    if len(os.fsencode(inside)) <= MAX_SOCKET_PATH_BYTES:
        return inside
    return Path("/tmp", f"forja-{os.getuid()}-{instance_label(home)}", "broker.sock")
