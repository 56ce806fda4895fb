"""Runs leave nothing behind: memory, descriptors, threads and processes stay what they were."""

from __future__ import annotations

import os
import threading

from sandboxes.quickjs.backend import QuickJS
from tests.sandboxes.engine_host import run

MIXED = (
    "return Array.from({ length: 20000 }, (_, i) => ({ i })).length",
    "for (let i = 0; i < 3; i++) await tools.call('t', { i }); return 1",
    "const f = n => 1 + f(n + 1); return f(0)",
    "return JSON.parse('['.repeat(100000))",
    "console.log('x'.repeat(1000)); throw new Error('no')",
)

HEAVY = "return new Array(3e6).fill(1.5).length"


def resident_bytes(pid: int | str = "self") -> int:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def run_mixed(engine: QuickJS, count: int) -> None:
    for number in range(count):
        run(engine, MIXED[number % len(MIXED)])
        if number % 50 == 0:
            run(engine, "for (;;);", timeout_ms=10)


def test_memory_stays_flat_over_hundreds_of_runs_in_a_thread(worker_engine):
    run_mixed(worker_engine, 150)
    before = resident_bytes()
    run_mixed(worker_engine, 400)
    assert resident_bytes() - before < 6 * 1024 * 1024


def test_memory_stays_flat_over_hundreds_of_runs_in_a_child(process_engine):
    run_mixed(process_engine, 150)
    child = process_engine._idle[0].engine.pid
    before, descriptors, threads = resident_bytes(child), len(os.listdir("/proc/self/fd")), threading.active_count()
    run_mixed(process_engine, 400)
    assert process_engine._idle[0].engine.pid == child, "the child was replaced"
    assert resident_bytes(child) - before < 6 * 1024 * 1024
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert threading.active_count() <= threads


def test_a_heavy_run_gives_its_memory_back(worker_engine):
    run(worker_engine, "return 1")
    before = resident_bytes()
    assert run(worker_engine, HEAVY, memory_bytes=128 * 1024 * 1024).value == 3_000_000
    run(worker_engine, "return 1")
    assert resident_bytes() - before < 8 * 1024 * 1024
