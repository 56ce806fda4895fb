"""Settings of the tests: the real ones, with the fixture tools registered."""

from __future__ import annotations

import tests.folder  # noqa: F401  it says where the home is, before the settings ask
from forja_site.settings import *  # noqa: F403
from forja_site.settings import DATABASES, FORJA_HOME

FORJA_EXTRA_TOOLS = ["tests.fixture_tools"]
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, as in production: in memory, SQLite locks whole tables and never waits for a lock.
    DATABASES["default"]["TEST"] = {"NAME": FORJA_HOME / "test.sqlite3"}
