"""One live instance for all the cases; each case runs in sessions of its own."""

from __future__ import annotations

import pytest

from tests.live import LiveForja


@pytest.fixture(scope="session")
def forja(live_forja) -> LiveForja:
    return live_forja


@pytest.fixture
def next_run_is_fine(forja):
    """Afterwards a small run gives 42 with no output, in the same session and in another one."""

    def check(session: str | None = None) -> None:
        for place in (session, None):
            run = forja.run("return 40 + 2", session=place, wait=10)
            assert (run["status"], run["value"], run["output"]["text"]) == ("succeeded", 42, "")

    return check
