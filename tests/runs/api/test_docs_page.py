"""The API's pages in a real browser, under the real policy."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The web process alone: these pages need neither rows nor a broker."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"FORJA_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "forja_site.settings"}
    command = [sys.executable, "-m", "forja_site.web", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_it_answers(address)
        yield address
    finally:
        process.terminate()
        process.wait(10)


def _wait_until_it_answers(address: str) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{address}/api/openapi.json").raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the web process did not start")


def test_the_docs_show_every_operation_under_the_strict_policy_without_other_hosts(address, chromium):
    said, asked = [], []
    context = chromium.new_context()
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/api/docs")
    page.locator(".opblock").nth(11).wait_for(timeout=20_000)
    context.close()
    assert said == []
    assert all(url.startswith((address, "data:")) for url in asked)
