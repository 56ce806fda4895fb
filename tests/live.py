"""A whole Forja of its own for tests: `manage.py serve` in a private home on a free port, spoken to over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
START_S = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LiveForja:
    """The instance, and a client signed in with its first admin's token."""

    def __init__(self, folder: Path, config: dict[str, Any] | None = None) -> None:
        self.home = folder / "home"
        self.home.mkdir(mode=0o700)
        self.counters = folder / "counters"
        self.counters.mkdir()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.configure(config or {"permissions": {"allow": ["fx.*"]}})
        self._environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("FORJA_", "DJANGO_"))
        } | {
            "FORJA_HOME": str(self.home),
            "PORT": str(self.port),
            "HOST": "127.0.0.1",
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "ALISIO_TMPDIR": str(folder),
            "FX_DIR": str(self.counters),
        }
        self.log = folder / "serve.log"
        self.process: subprocess.Popen[bytes] | None = None
        self._client: httpx.Client | None = None

    # ── The instance ────────────────────────────────────────────────────────────────────────────

    def start(self) -> LiveForja:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve"],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        wait_until(self._is_up, START_S, explain=self.log.read_text)
        token = (self.home / "admin-token").read_text().strip()
        self._client = httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=120, trust_env=False
        )
        return self

    def _is_up(self) -> bool:
        assert self.process is not None and self.process.poll() is None, self.log.read_text()
        try:
            healthy = httpx.get(f"{self.url}/health", timeout=5, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False
        return healthy and (self.home / "admin-token").exists()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> float:
        """End it and give the seconds that took."""
        assert self.process is not None
        start = time.monotonic()
        self.process.send_signal(how)
        self.process.wait(15)
        return time.monotonic() - start

    def configure(self, config: dict[str, Any]) -> None:
        (self.home / "config.json").write_text(json.dumps(config))

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def sign_in_path(self) -> str:
        """The printed sign-in link's path."""
        text = self.log.read_text()
        start = text.index("/sign-in/?token=")
        return text[start:].split()[0]

    # ── The client ──────────────────────────────────────────────────────────────────────────────

    @property
    def client(self) -> httpx.Client:
        assert self._client is not None
        return self._client

    def session(self, **fields: Any) -> str:
        answer = self.client.post("/api/sessions", json={"title": "test"} | fields)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def submit(self, code: str, *, session: str | None = None, wait: float = 0, **fields: Any) -> httpx.Response:
        path = f"/api/sessions/{session or self.session()}/runs"
        return self.client.post(
            path, params={"wait": wait} if wait else {}, json={"tool": "js_run", "code": code} | fields
        )

    def run(self, code: str, *, session: str | None = None, wait: float = 60, **fields: Any) -> dict[str, Any]:
        """Run to the end and give the run."""
        answer = self.submit(code, session=session, wait=wait, **fields)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def value(self, code: str, **fields: Any) -> Any:
        """Run to success and give the value."""
        run = self.run(code, **fields)
        assert run["status"] == "succeeded", run["error"]
        return run["value"]

    def start_run(self, code: str, *, session: str | None = None, **fields: Any) -> dict[str, Any]:
        answer = self.submit(code, session=session, **fields)
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    def read(self, run_id: str) -> dict[str, Any]:
        return dict(self.client.get(f"/api/runs/{run_id}").json())

    def ended(self, run_id: str, timeout_s: float = 30) -> dict[str, Any]:
        wait_until(lambda: "finishedAt" in self.read(run_id), timeout_s, explain=lambda: str(self.read(run_id)))
        return self.read(run_id)

    def running(self, run_id: str, timeout_s: float = 20) -> dict[str, Any]:
        wait_until(lambda: self.read(run_id)["status"] != "queued", timeout_s)
        return self.read(run_id)

    def events(self, run_id: str) -> list[dict[str, Any]]:
        return list(self.client.get(f"/api/runs/{run_id}/events").json()["items"])

    def cancel(self, run_id: str) -> httpx.Response:
        return self.client.post(f"/api/runs/{run_id}/cancel")


def wait_until(condition: Callable[[], bool], timeout_s: float, explain: Callable[[], str] | None = None) -> None:
    """Wait for what a test expects, up to a deadline."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, explain() if explain else "it did not come in time"
        time.sleep(0.02)
