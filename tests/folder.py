"""A private home for the tests. Imported by their settings: pytest-django reads those before any conftest."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

FOLDER = Path(os.environ.get("FORJA_HOME", "")).parent
if "pytest" in sys.modules:
    # An instance that a test starts has these settings too, and a home of its own.
    FOLDER = Path(tempfile.mkdtemp(prefix="forja-test-"))
    os.environ["FORJA_HOME"] = str(FOLDER / "home")
    os.environ["FORJA_SOCKET"] = str(FOLDER / "broker.sock")
    os.environ["ALISIO_TMPDIR"] = str(FOLDER / "tmp")
