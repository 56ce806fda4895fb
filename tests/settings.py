"""Settings of the tests: the real ones, with the fixture tools registered."""

from __future__ import annotations

from forja_site.settings import *  # noqa: F403

FORJA_EXTRA_TOOLS = ["tests.fixture_tools"]
