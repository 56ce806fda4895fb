"""A private Forja for the benchmarks, and one program that calls it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Instance:
    """A Forja of its own on a free port, ended with the context."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="forja-bench-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        env = os.environ | {"FORJA_HOME": self._home.name, "PORT": str(self.port), "HOST": "127.0.0.1"}
        self._log = (Path(self._home.name) / "serve.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve"], cwd=ROOT, env=env, stdout=self._log, stderr=subprocess.STDOUT
        )

    def __enter__(self) -> Instance:
        deadline = time.monotonic() + 60
        token = Path(self._home.name) / "admin-token"
        while not (token.exists() and self._is_up()):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise SystemExit((Path(self._home.name) / "serve.log").read_text())
            time.sleep(0.1)
        self.token = token.read_text().strip()
        return self

    def _is_up(self) -> bool:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)
        self._log.close()
        self._home.cleanup()


class Caller:
    """One program with one connection."""

    def __init__(self, instance: Instance) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", instance.port)
        self._headers = {"Authorization": f"Bearer {instance.token}", "Content-Type": "application/json"}

    def send(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def session(self) -> str:
        status, body = self.send("POST", "/api/sessions", {"title": "benchmark"})
        assert status == 201, body
        return str(body["id"])

    def run(self, session: str, code: str, **fields: object) -> dict[str, object]:
        """Run to the end, whatever that is."""
        body = {"tool": "js_run", "code": code} | fields
        status, run = self.send("POST", f"/api/sessions/{session}/runs?wait=60", body)
        assert status == 200, (status, run)
        return run

    def start(self, session: str, code: str, **fields: object) -> str:
        body = {"tool": "js_run", "code": code} | fields
        status, run = self.send("POST", f"/api/sessions/{session}/runs", body)
        assert status == 202, (status, run)
        return str(run["id"])


def timed(action: Callable[[], object], count: int) -> list[float]:
    """The duration of each call, in milliseconds."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1000)
    return times


def describe(name: str, times: list[float]) -> float:
    """Print median and 95th percentile; gives the median."""
    times = sorted(times)
    p50, p95 = statistics.median(times), times[int(len(times) * 0.95)]
    print(f"{name:<46} n={len(times):<5} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms", flush=True)
    return p50
