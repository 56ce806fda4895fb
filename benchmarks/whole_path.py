"""The whole path of a run: HTTP with ?wait, journal, queue, worker, engine, answer.

Starts a private instance, then measures one caller and eight. Prints medians and rates; the peer in the same
run is a bare `GET /health` of the same server, so that the ratio shows what the path adds.

    .venv/bin/python -m benchmarks.whole_path [--runs 300] [--callers 8]
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
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
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "serve"], cwd=ROOT, env=env, stdout=self._log, stderr=subprocess.STDOUT
        )

    def __enter__(self) -> Instance:
        deadline = time.monotonic() + 60
        token = Path(self._home.name) / "admin-token"
        while not (token.exists() and self._healthy()):
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise SystemExit((Path(self._home.name) / "serve.log").read_text())
            time.sleep(0.1)
        self.token = token.read_text().strip()
        return self

    def _healthy(self) -> bool:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(10)
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
        assert status in (200, 201), body
        return str(body["id"])

    def run(self, session: str, code: str = "return 1+1") -> None:
        status, body = self.send("POST", f"/api/sessions/{session}/runs?wait=30", {"tool": "js_run", "code": code})
        assert status == 200 and body["status"] == "succeeded", (status, body)


def timed(action: Callable[[], object], count: int) -> list[float]:
    """The duration of each call, in milliseconds."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1000)
    return times


def describe(name: str, times: list[float]) -> float:
    times = sorted(times)
    p50, p95 = statistics.median(times), times[int(len(times) * 0.95)]
    print(f"{name:<44} n={len(times):<5} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms")
    return p50


def many_callers(instance: Instance, callers: int, count: int) -> float:
    """Runs per second of several callers at once, each in a session of its own."""
    ready = [(caller, caller.session()) for caller in (Caller(instance) for _ in range(callers))]
    times: list[float] = []

    def work(caller: Caller, session: str) -> None:
        times.extend(timed(lambda: caller.run(session), count // callers))

    threads = [threading.Thread(target=work, args=pair) for pair in ready]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = len(times) / (time.perf_counter() - start)
    describe(f"{callers} callers, return 1+1", times)
    print(f"{'':<44} {rate:.1f} runs/s")
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--callers", type=int, default=8)
    options = parser.parse_args()
    with Instance() as instance:
        caller = Caller(instance)
        session = caller.session()
        timed(lambda: caller.run(session), 20)
        health = describe("GET /health, one caller", timed(lambda: caller.send("GET", "/health"), options.runs))
        one = describe("one caller, return 1+1", timed(lambda: caller.run(session), options.runs))
        print(f"{'':<44} {one / health:.2f} times a bare GET")
        many_callers(instance, options.callers, options.runs * 2)


if __name__ == "__main__":
    main()
