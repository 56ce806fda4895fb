"""The web server alone: capped bodies, back-pressure, a prompt end."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[3]
MIB = 1024 * 1024


class Server:
    def __init__(self, port: int) -> None:
        self.port = port
        command = [sys.executable, "-m", "tests.runs.api.bare_app", str(port)]
        self.process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def until_it_listens(self) -> Server:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                self.connect().close()
                return self
            except OSError:
                time.sleep(0.02)
        raise AssertionError("the server did not start")

    def peak_bytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


@pytest.fixture
def server() -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server(port)
    try:
        yield server.until_it_listens()
    finally:
        server.process.kill()
        server.process.communicate(timeout=10)


def answer_of(connection: socket.socket) -> tuple[int, dict]:
    """Read one whole answer in the error shape; gives its status and its error."""
    with connection.makefile("rb") as reader:
        status = int(reader.readline().split()[1])
        length = 0
        while (line := reader.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return status, json.loads(reader.read(length))["error"]


def test_a_large_body_is_refused_at_once_in_flat_memory(server):
    before = server.peak_bytes()
    started = time.monotonic()
    with server.connect() as connection:
        connection.sendall(b"POST /api/x HTTP/1.1\r\nHost: x\r\nContent-Length: 314572800\r\n\r\n")
        status, error = answer_of(connection)
    assert time.monotonic() - started < 2
    assert (status, error["code"]) == (413, "SOURCE_TOO_LARGE")
    assert server.peak_bytes() - before < 4 * MIB


def test_a_client_that_sends_300_megabytes_first_still_reads_the_answer(server):
    before = server.peak_bytes()

    def body() -> Iterator[bytes]:
        for _ in range(300):
            yield b"x" * MIB

    for headers in ({"Content-Length": str(300 * MIB)}, {}):
        reply = httpx.post(f"http://127.0.0.1:{server.port}/api/x", content=body(), headers=headers, timeout=30)
        assert (reply.status_code, reply.json()["error"]["code"]) == (413, "SOURCE_TOO_LARGE")
    assert server.peak_bytes() - before < 24 * MIB


def test_a_body_up_to_the_cap_arrives_whole(server):
    reply = httpx.post(f"http://127.0.0.1:{server.port}/", content=b"x" * (8 * MIB), timeout=30)
    assert reply.text == str(8 * MIB)


def test_a_slow_reader_holds_the_download_back_in_flat_memory(server):
    before = server.peak_bytes()
    with server.connect() as connection:
        connection.sendall(b"GET /download HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(1024).startswith(b"HTTP/1.1 200")
        deadline = time.monotonic() + 1.5
        while time.monotonic() < deadline:
            connection.recv(65_536)
            time.sleep(0.05)
    assert server.peak_bytes() - before < 16 * MIB


def test_a_download_arrives_whole(server):
    with httpx.stream("GET", f"http://127.0.0.1:{server.port}/download", timeout=60) as reply:
        size = sum(len(part) for part in reply.iter_raw())
    assert size >= 4_000 * 65_536


def test_one_connection_serves_downloads_and_small_replies_in_turn(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    for path in ("/download", "/", "/download", "/"):
        connection.request("GET", path)
        size = len(connection.getresponse().read())
        assert size == (4_000 * 65_536 if path == "/download" else 1)


def test_what_is_no_http_is_refused_in_the_shape(server):
    for garbage in (
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        with server.connect() as connection:
            connection.sendall(garbage)
            status, error = answer_of(connection)
        assert (status, error["code"]) == (400, "INVALID_INPUT")


def test_a_failing_application_is_told_in_the_shape(server):
    reply = httpx.get(f"http://127.0.0.1:{server.port}/fail")
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "INTERNAL")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_within_seconds_with_waits_streams_and_idle_connections_open(server, number):
    open_ = [server.connect() for _ in range(12)]
    for connection in open_[:10]:
        connection.sendall(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
    open_[10].sendall(b"GET /download HTTP/1.1\r\nHost: x\r\n\r\n")
    assert open_[10].recv(1024).startswith(b"HTTP/1.1 200")
    started = time.monotonic()
    server.process.send_signal(number)
    assert server.process.wait(8) == 0
    assert time.monotonic() - started < 4
    for connection in open_:
        connection.close()


def test_an_answer_given_while_it_stops_reaches_its_client(server):
    with server.connect() as connection:
        connection.sendall(b"GET /polite HTTP/1.1\r\nHost: x\r\n\r\n")
        httpx.get(f"http://127.0.0.1:{server.port}/")  # so that the one before has been read
        server.process.send_signal(signal.SIGTERM)
        with connection.makefile("rb") as reader:
            answer = reader.read()
    assert answer.startswith(b"HTTP/1.1 200") and b"not yet" in answer
    assert server.process.wait(8) == 0


def test_a_busy_port_is_one_clear_sentence(server):
    second = Server(server.port)
    _, errors = second.process.communicate(timeout=20)
    assert second.process.returncode == 1
    assert errors.startswith("Cannot listen: ")
    assert len(errors.strip().splitlines()) == 1
