"""The supervisor with real processes: what it starts it keeps up, and what it stops is gone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.forja_site.instances import (
    ENDLESS,
    ignore_interrupts,
    pid_of,
    processes,
    try_to_serve,
    wait_until_gone,
)
from tests.live import ROOT, LiveForja, free_port, wait_until

STOP_S = 5.0


@pytest.fixture(scope="module")
def forja(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveForja]:
    """An instance that the tests share as long as they leave it up."""
    instance = LiveForja(tmp_path_factory.mktemp("shared"))
    try:
        yield instance.start()
    finally:
        instance.stop()


@pytest.fixture
def own_forja(tmp_path: Path) -> Iterator[LiveForja]:
    """An instance that one test may end."""
    instance = LiveForja(tmp_path)
    try:
        yield instance
    finally:
        if instance.process is not None and instance.process.poll() is None:
            instance.process.kill()
            instance.process.wait()


# ── Up ──────────────────────────────────────────────────────────────────────────────────────────


def test_it_prints_one_link_that_signs_in(forja: LiveForja) -> None:
    wait_until(lambda: "Stop with Ctrl-C." in forja.log.read_text(), 10)
    links = re.findall(r"http://\S+/sign-in/\?token=\S+", forja.log.read_text())
    assert len(links) == 1
    assert links[0].startswith(forja.url)
    with httpx.Client(trust_env=False) as browser:
        assert browser.get(links[0]).status_code in (200, 302, 303)


def test_it_writes_a_token_that_works_into_a_private_home(forja: LiveForja) -> None:
    assert forja.home.stat().st_mode & 0o777 == 0o700
    for name in ("admin-token", "secret-key", "version"):
        assert (forja.home / name).stat().st_mode & 0o777 == 0o600, name
    assert forja.client.get("/api/sessions").status_code == 200


def test_it_makes_a_workspace_with_something_to_read(forja: LiveForja) -> None:
    folder = forja.home / "workspace"
    assert "region,month" in (folder / "sales.csv").read_text()
    assert len(list((folder / "notes").iterdir())) == 3


def test_it_tells_a_second_start_where_the_first_one_runs(forja: LiveForja) -> None:
    for port in (forja.port, free_port()):
        done = try_to_serve(forja.home, PORT=str(port))
        assert done.returncode == 1
        assert f"already runs for {forja.home} at {forja.url}" in done.stderr
    assert forja.client.get("/health").status_code == 200


@pytest.mark.parametrize("name", ["celery", "forja_site.web", "valkey-server"])
def test_it_starts_a_child_again_that_was_killed(forja: LiveForja, name: str) -> None:
    before = pid_of(forja, name)
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: any(name in part and pid != before for pid, part in commands(forja)), 20)
    assert pid_of(forja, name) != before
    wait_until(lambda: is_well(forja), 30)
    assert "was ended by SIGKILL; starting it again" in forja.log.read_text()


def commands(forja: LiveForja) -> list[tuple[int, str]]:
    found = []
    for pid in processes(forja):
        with suppress(OSError):
            found.append((pid, Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")))
    return found


def is_well(forja: LiveForja) -> bool:
    try:
        return forja.client.get("/health").status_code == 200
    except httpx.TransportError:
        return False


def test_it_runs_a_script_after_every_child_was_started_again(forja: LiveForja) -> None:
    assert forja.run("return 1 + 1")["value"] == 2


# ── Down ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_stops_everything_on_a_signal_also_with_a_script_and_a_wait_open(
    own_forja: LiveForja, number: signal.Signals
) -> None:
    own_forja.start()
    # The first run of a home waits for the engine to be compiled, and this is to be about one that loops.
    own_forja.run("return 1")
    waiter = threading.Thread(target=wait_for_an_endless_run, args=(own_forja,))
    waiter.start()
    wait_until(lambda: bool(own_forja.client.get("/api/runs?status=running").json()["items"]), 20)
    assert own_forja.stop(number) < STOP_S
    assert own_forja.process is not None
    assert own_forja.process.returncode == 0
    assert processes(own_forja) == []
    waiter.join(10)


def wait_for_an_endless_run(forja: LiveForja) -> None:
    with suppress(httpx.TransportError):
        forja.submit(ENDLESS, wait=60, timeoutMs=30_000)


def test_it_heeds_an_interrupt_also_when_started_in_the_background(own_forja: LiveForja) -> None:
    own_forja.process = serve(own_forja, before=ignore_interrupts)
    wait_until(lambda: "Stop with Ctrl-C." in own_forja.log.read_text(), 60, explain=own_forja.log.read_text)
    assert own_forja.stop(signal.SIGINT) < STOP_S
    assert own_forja.process.returncode == 0
    assert processes(own_forja) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_stops_when_make_is_asked_to(own_forja: LiveForja, tmp_path: Path, number: signal.Signals) -> None:
    makefile = tmp_path / "Makefile"
    makefile.write_text(f"run:\n\t@cd '{ROOT}' && exec '{sys.executable}' manage.py serve\n")
    own_forja.process = serve(own_forja, command=["make", "-f", str(makefile)])
    wait_until(lambda: "Stop with Ctrl-C." in own_forja.log.read_text(), 60, explain=own_forja.log.read_text)
    own_forja.process.send_signal(number)
    own_forja.process.wait(STOP_S + 1)
    wait_until_gone(own_forja)


def serve(forja: LiveForja, *, command: list[str] | None = None, before: object = None) -> subprocess.Popen[bytes]:
    """Start it another way than LiveForja does."""
    with forja.log.open("ab") as log:
        return subprocess.Popen(
            command or [sys.executable, "manage.py", "serve"],
            cwd=ROOT,
            env=forja._environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=before,  # type: ignore[arg-type]
        )


def test_nothing_survives_the_supervisor_when_it_is_killed(own_forja: LiveForja) -> None:
    own_forja.start()
    own_forja.run("return 1")
    own_forja.start_run(ENDLESS, timeoutMs=30_000)
    wait_until(lambda: bool(own_forja.client.get("/api/runs?status=running").json()["items"]), 20)
    assert own_forja.process is not None
    own_forja.process.kill()
    own_forja.process.wait()
    wait_until_gone(own_forja)


# ── Again ───────────────────────────────────────────────────────────────────────────────────────


def test_it_keeps_keys_and_tokens_over_a_restart_and_copies_an_older_database(own_forja: LiveForja) -> None:
    own_forja.start()
    kept = {name: (own_forja.home / name).read_text() for name in ("admin-token", "secret-key")}
    own_forja.stop()
    # A home that is to be migrated: here, one whose tables were taken back.
    assert own_forja.manage("migrate", "sessions", "zero").returncode == 0
    own_forja.start()
    assert {name: (own_forja.home / name).read_text() for name in kept} == kept
    assert own_forja.client.get("/api/sessions").status_code == 200
    [copy] = (own_forja.home / "backups").iterdir()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.read_bytes().startswith(b"SQLite format 3")
    own_forja.stop()
