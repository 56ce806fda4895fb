"""The child-process host: bound to its parent, watched by it, replaced when it dies, never believed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sandboxes import child
from sandboxes.quickjs import frames, process
from sandboxes.quickjs.build import ROOT
from sandboxes.quickjs.order import MAX_MESSAGE_BYTES, OP_CALL, OP_OUTPUT, End
from tests.sandboxes.engine_host import FakeHost, assert_next_run_is_fine, run, wait_for


def child_of(engine) -> int:
    return engine._idle[0].engine.pid


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def start_run(engine, code: str, host: FakeHost, **limits: int) -> tuple[threading.Thread, list]:
    done: list = []
    thread = threading.Thread(target=lambda: done.append(run(engine, code, host=host, **limits)))
    thread.start()
    return thread, done


# ── What the child is ───────────────────────────────────────────────────────────────────────────


def test_the_child_has_nothing_but_its_label(process_engine):
    run(process_engine, "return 1")
    pid = child_of(process_engine)
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert [line for line in environment if line and not line.startswith(b"LC_CTYPE")] == [b"FORJA_INSTANCE=tests"]
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.getsid(pid) == pid


def test_the_child_has_its_limits_and_can_gain_no_rights(process_engine):
    run(process_engine, "return 1")
    pid = child_of(process_engine)
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert [line.split()[-3:-1] for line in limits.splitlines() if line.startswith("Max core")] == [["0", "0"]]
    assert [line.split()[-3:-1] for line in limits.splitlines() if line.startswith("Max file size")] == [["0", "0"]]
    assert "NoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_text()


def test_the_child_holds_no_descriptor_but_its_pipes(process_engine):
    run(process_engine, "return 1")
    pid = child_of(process_engine)
    targets = [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
    allowed = ("pipe:", "/dev/null", "anon_inode:[eventfd]", "/memfd:", "/proc/")
    assert [target for target in targets if not target.startswith(allowed) and not target.endswith(".cwasm")] == []


def test_the_same_child_serves_one_run_after_another(process_engine):
    run(process_engine, "return 1")
    first = child_of(process_engine)
    run(process_engine, "throw 1")
    run(process_engine, "for (;;);", timeout_ms=50)
    assert child_of(process_engine) == first


def test_the_child_dies_with_its_parent(tmp_path, built_engine, engine_cache):
    code = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from sandboxes.quickjs.backend import QuickJS
wasm, cache = Path({str(built_engine)!r}), Path({str(engine_cache)!r})
engine = QuickJS(wasm_path=wasm, cache_dir=cache, slots=1, instance="tests")
engine.warm()
print(engine._idle[0].engine.pid, flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert is_alive(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_for(lambda: not is_alive(pid), seconds=2)


def test_warming_readies_as_many_rooms_as_asked_and_never_more_than_slots(built_engine, engine_cache):
    from sandboxes.quickjs.backend import QuickJS

    engine = QuickJS(wasm_path=built_engine, cache_dir=engine_cache, slots=2, instance="tests")
    try:
        engine.warm(5)
        pids = {room.engine.pid for room in engine._idle}
        assert len(pids) == 2 and all(is_alive(pid) for pid in pids)
    finally:
        engine.close()


def test_closing_ends_every_child(built_engine, engine_cache):
    from sandboxes.quickjs.backend import QuickJS

    engine = QuickJS(wasm_path=built_engine, cache_dir=engine_cache, slots=2, instance="tests")
    engine.warm()
    pid = child_of(engine)
    engine.close()
    assert not is_alive(pid)


# ── When it dies or is stuck ────────────────────────────────────────────────────────────────────


def test_a_child_killed_in_the_middle_ends_that_run_only(process_engine):
    host = FakeHost()
    run(process_engine, "return 1")
    pid = child_of(process_engine)
    thread, done = start_run(process_engine, "console.log('on'); for (;;);", host)
    wait_for(lambda: bool(host.text()))
    os.kill(pid, signal.SIGKILL)
    thread.join(5)
    assert (done[0].code, host.text()) == ("KILLED", "on\n")
    assert_next_run_is_fine(process_engine)
    assert child_of(process_engine) != pid


def test_a_child_killed_while_idle_costs_nobody_a_run(process_engine):
    run(process_engine, "return 1")
    pid = child_of(process_engine)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not is_alive(pid))
    assert run(process_engine, "return 5").value == 5


def test_a_child_that_is_stuck_is_killed_when_its_time_is_over(process_engine):
    host = FakeHost()
    pid = child_of(process_engine)
    thread, done = start_run(process_engine, "console.log('on'); for (;;);", host, timeout_ms=300)
    wait_for(lambda: bool(host.text()))
    os.kill(pid, signal.SIGSTOP)
    thread.join(5)
    assert done[0].code == "TIMEOUT"
    assert done[0].seconds < 0.3 + process.TIMEOUT_GRACE_SECONDS + 0.5
    assert_next_run_is_fine(process_engine)


def test_a_child_that_does_not_confirm_a_stop_is_killed(process_engine):
    host = FakeHost()
    pid = child_of(process_engine)
    thread, done = start_run(process_engine, "console.log('on'); for (;;);", host)
    wait_for(lambda: bool(host.text()))
    os.kill(pid, signal.SIGSTOP)
    asked = time.monotonic()
    host.stop.request()
    thread.join(5)
    assert done[0].code == "CANCELLED"
    assert time.monotonic() - asked < process.CANCEL_GRACE_SECONDS + 0.5
    assert not is_alive(pid)
    assert_next_run_is_fine(process_engine)


def test_a_stuck_child_cannot_hold_up_a_large_answer(process_engine):
    """The answer does not fit into the pipe and nobody reads it: the stop still ends the run."""
    pids: list[int] = []

    def tool(call):
        os.kill(pids[0], signal.SIGSTOP)
        return '"' + "x" * 4_000_000 + '"'

    run(process_engine, "return 1")
    pids.append(child_of(process_engine))
    ran = run(process_engine, "await tools.call('t', {}); return 1", host=FakeHost(tool), timeout_ms=300)
    assert ran.code == "TIMEOUT"
    assert ran.seconds < 2
    assert_next_run_is_fine(process_engine)


# ── What it says is not believed ────────────────────────────────────────────────────────────────


@pytest.fixture
def liar(process_engine, monkeypatch):
    """Have a child that answers a job with frames of the test's own."""

    def make(*answer: bytes):
        sent = b"".join(answer)
        code = (
            "import sys, os, struct\n"
            f"os.write(1, {frames.pack(frames.READY, 0)!r})\n"
            "head = sys.stdin.buffer.read(9)\n"
            f"out = memoryview({sent!r})\n"
            "while out: out = out[os.write(1, out):]\n"
            "sys.stdin.buffer.read()\n"
        )
        monkeypatch.setattr(child, "python_command", lambda module, *rest: [sys.executable, "-I", "-c", code])
        process_engine._idle[0].renew()
        monkeypatch.undo()
        return process_engine

    run(process_engine, "return 1")
    return make


def end_frame(meta: object, report: bytes = b"", run_number: int = 1) -> bytes:
    text = json.dumps(meta).encode() if not isinstance(meta, bytes) else meta
    return frames.pack(frames.ENDED, run_number, len(text).to_bytes(4, "little") + text + report)


LIES = {
    "a frame of no known kind": frames.pack(99, 1, b"x"),
    "a frame that claims gigabytes": bytes([OP_OUTPUT]) + (1).to_bytes(4, "little") + b"\xff\xff\xff\xff",
    "a call above its size": bytes([OP_CALL])
    + (1).to_bytes(4, "little")
    + (MAX_MESSAGE_BYTES[OP_CALL] + 1).to_bytes(4, "little"),
    "a call that is no JSON": frames.pack(OP_CALL, 1, b"{"),
    "a call without an id": frames.pack(OP_CALL, 1, b'{"tool":"t","args":{}}'),
    "a call with NaN": frames.pack(OP_CALL, 1, b'{"id":1,"tool":"t","args":{"x":NaN}}'),
    "a call with infinity": frames.pack(OP_CALL, 1, b'{"id":1,"tool":"t","args":{"x":1e999}}'),
    "a call that nests too deeply": frames.pack(
        OP_CALL, 1, b'{"id":1,"tool":"t","args":' + b"[" * 30_000 + b"]" * 30_000 + b"}"
    ),
    "the same call twice": frames.pack(OP_CALL, 1, b'{"id":1,"tool":"t","args":{}}') * 2,
    "an end of no known kind": end_frame({"kind": "won"}),
    "an end that is no JSON": end_frame(b"{"),
    "an end without a description": frames.pack(frames.ENDED, 1, b""),
    "an end whose description nests": end_frame(b"[" * 50_000),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_lying_child_is_killed_and_the_next_run_is_fine(liar, lie):
    engine = liar(lie)
    ran = run(engine, "return 1", timeout_ms=2000)
    assert ran.code == "KILLED"
    assert ran.seconds < 1.5
    assert_next_run_is_fine(engine)


def test_a_report_of_a_child_is_no_more_than_text(liar):
    engine = liar(end_frame({"kind": "report", "metrics": {}}, b'{"ok": true, "value": [[['))
    assert run(engine, "return 1").code in ("INTERNAL", "RESULT_NOT_SERIALIZABLE")


def test_figures_of_a_child_are_checked(liar):
    told = {"durationMs": 5, "cpuMs": "much", "peakMemoryBytes": -1, "startupMs": 1e308, "madeUp": 7}
    engine = liar(end_frame({"kind": "timeout", "metrics": told}))
    ran = run(engine, "return 1")
    assert (ran.code, ran.outcome.metrics) == ("TIMEOUT", {"durationMs": 5.0})


def test_frames_of_another_run_are_ignored(liar):
    engine = liar(
        frames.pack(OP_OUTPUT, 7, b"onot mine\n"),
        end_frame({"kind": "timeout"}, run_number=7),
        frames.pack(OP_OUTPUT, 1, b"omine\n"),
        end_frame({"kind": "cancelled"}),
    )
    ran = run(engine, "return 1")
    assert (ran.code, ran.host.text()) == ("CANCELLED", "mine\n")


def test_an_end_travels_whole():
    end = End(kind="report", report=b"\x00{}", detail="d", metrics={"cpuMs": 1.5})
    assert frames.read_end(frames.pack_end(end)) == end


# ── child.py ────────────────────────────────────────────────────────────────────────────────────


def test_ending_a_child_ends_what_it_started():
    started = child.start(
        ["/bin/sh", "-c", "sleep 60 & echo $!; wait"], label="tests", stdout=subprocess.PIPE, environment={}
    )
    assert started.stdout is not None
    grandchild = int(started.stdout.readline())
    child.end(started)
    wait_for(lambda: not is_alive(grandchild))


def test_a_child_that_cannot_be_started_says_so():
    started = child.start(["/no/such/program"], label="tests", stderr=subprocess.PIPE)
    _, complaint = started.communicate(timeout=10)
    assert started.returncode != 0
    assert b"No such file" in complaint


def test_a_child_outlives_the_thread_that_asked_for_it():
    made: list[subprocess.Popen[bytes]] = []
    thread = threading.Thread(target=lambda: made.append(child.start(["/bin/sleep", "30"], label="tests")))
    thread.start()
    thread.join()
    with pytest.raises(subprocess.TimeoutExpired):
        made[0].wait(0.3)
    child.end(made[0])
