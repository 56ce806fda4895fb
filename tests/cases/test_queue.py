"""Failures that users of such tools met: queue, cancel, recovery. Each with the behaviour that is right."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.live import LiveForja, wait_until

TERMINAL = {"succeeded", "failed", "cancelled", "timed_out", "interrupted", "denied"}


def test_two_hundred_cancels_at_random_moments_end_each_run_once(forja):
    session = forja.session()
    source = random.Random(7)
    code = (
        "await tools.call('fx_sleep',{ms:Math.floor(Math.random()*60)});\n"
        "await tools.call('fx_count',{key:'done'}); return 1"
    )

    def cancel_later(run_id: str, delay_s: float, twice: bool) -> None:
        time.sleep(delay_s)  # the moment is the input of this case
        for _ in range(1 + twice):
            assert forja.cancel(run_id).status_code in (200, 409)

    ids, threads = [], []
    for _ in range(200):
        while (answer := forja.submit(code, session=session)).status_code == 429:
            time.sleep(0.05)
        ids.append(answer.json()["id"])
        threads.append(
            threading.Thread(target=cancel_later, args=(ids[-1], source.random() * 0.08, source.random() < 0.2))
        )
        threads[-1].start()
    for thread in threads:
        thread.join()
    statuses = []
    for run_id in ids:
        run = forja.ended(run_id)
        statuses.append(run["status"])
        kinds = [event["kind"] for event in forja.events(run_id)]
        assert kinds.count("finished") == 1 and kinds[-1] == "finished"
        assert ("value" in run and run["value"] == 1) == (run["status"] == "succeeded")
        assert forja.cancel(run_id).json()["error"]["code"] == "ALREADY_FINISHED"
    assert set(statuses) <= {"succeeded", "cancelled"} and "cancelled" in statuses


def test_a_lone_run_of_another_session_does_not_wait_for_a_long_line(forja):
    crowd, lone = forja.session(), forja.session()
    waiting = [forja.start_run("await tools.call('fx_sleep',{ms:1000}); return 1", session=crowd) for _ in range(30)]
    queued = [forja.read(run["id"]) for run in waiting[-5:]]
    assert [run["queue"]["position"] for run in queued] == sorted(run["queue"]["position"] for run in queued)
    start = time.monotonic()
    assert forja.value("return 'in'", session=lone) == "in"
    assert time.monotonic() - start < 4
    victim = waiting[-1]["id"]
    assert forja.cancel(victim).json()["status"] == "cancelled"
    assert [event["kind"] for event in forja.events(victim)] == ["queued", "cancel_requested", "finished"]
    ended = [forja.ended(run["id"], 60) for run in waiting[:-1]]
    assert {run["status"] for run in ended} == {"succeeded"}
    started = [run["startedAt"] for run in ended]
    assert started == sorted(started)
    assert all(run["metrics"]["durationMs"] < 5000 for run in ended)


def test_a_full_queue_says_so(tmp_path):
    forja = LiveForja(
        tmp_path, {"permissions": {"allow": ["fx.*"]}, "forge": {"queue": {"slots": 1, "maxPerSession": 2}}}
    )
    try:
        forja.start()
        session = forja.session()
        answers = [forja.submit("await tools.call('fx_sleep',{ms:3000})", session=session) for _ in range(4)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused and refused[0].json()["error"]["code"] == "QUEUE_FULL"
        assert int(refused[0].headers["Retry-After"]) >= 1
    finally:
        forja.stop()


@pytest.mark.parametrize("victim", ["worker", "supervisor"])
def test_a_kill_in_the_middle_leaves_no_run_running_and_no_child_alive(tmp_path, victim):
    forja = LiveForja(tmp_path)
    try:
        forja.start()
        session = forja.session()
        run = forja.start_run(
            "console.log('so far'); await tools.call('fx_echo',{a:1}); await tools.call('fx_sleep',{ms:60000})",
            session=session,
        )
        wait_until(lambda: forja.read(run["id"])["calls"]["started"] == 2, 20)
        before = processes_of(forja)
        assert forja.process is not None
        pid = forja.process.pid if victim == "supervisor" else next(p for p, text in before.items() if "celery" in text)
        os.kill(pid, signal.SIGKILL)
        if victim == "supervisor":
            forja.process.wait(10)
            wait_until(lambda: not processes_of(forja), 15, explain=lambda: str(processes_of(forja)))
            forja.start()
        ended = forja.ended(run["id"], 30)
        assert (ended["status"], ended["error"]["code"]) == ("interrupted", "INTERRUPTED")
        assert ended["output"]["text"] == "so far\n"
        assert [call["status"] for call in ended["calls"]["items"]] == ["succeeded", "cancelled"]
        assert forja.cancel(run["id"]).json()["error"]["code"] == "ALREADY_FINISHED"
        assert forja.value("return 2", session=session) == 2
    finally:
        forja.stop()
    wait_until(lambda: not processes_of(forja), 10, explain=lambda: str(processes_of(forja)))


def processes_of(forja: LiveForja) -> dict[int, str]:
    """What still runs for this instance: processes whose environment names its home, or that are the children's."""
    from forja_site.instance import instance_label

    marks = (f"FORJA_HOME={forja.home}".encode(), f"FORJA_INSTANCE={instance_label(forja.home)}".encode())
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            if any(mark in environment for mark in marks):
                found[int(folder.name)] = (
                    (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
        except OSError:
            continue
    return found


def test_a_damaged_engine_is_named_and_never_run(tmp_path):
    import shutil

    forja = LiveForja(tmp_path)
    built = Path(__file__).resolve().parents[2] / ".build" / "quickjs.wasm"
    broken = tmp_path / "quickjs.wasm"
    shutil.copy(built, broken)
    forja._environment["FORJA_ENGINE_PATH"] = str(broken)
    try:
        forja.start()
        assert forja.value("return 1") == 1
        data = bytearray(broken.read_bytes())
        data[len(data) // 2] ^= 1
        broken.write_bytes(data)
        answer = forja.submit("return 1", wait=10)
        assert answer.status_code == 503 and answer.json()["error"]["code"] == "ENGINE_MISMATCH"
        shutil.copy(built, broken)
        assert forja.value("return 1") == 1
    finally:
        forja.stop()
