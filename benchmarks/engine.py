"""The engine against its peers: `python -m benchmarks.engine [--runs N]`.

Medians and ratios from one interleaved run, so that a noisy machine is unfair to everybody alike. Peers: the native
`quickjs` package (no sandbox, one bare eval in a fresh context) and `node -e`; a missing one is left out, and said.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from sandboxes.base import Event, Job, Limits, StopSignal, ToolCall
from sandboxes.quickjs.answers import QueuedAnswers
from sandboxes.quickjs.backend import QuickJS
from sandboxes.quickjs.build import DEFAULT_FOLDER, FILE_NAME
from sandboxes.quickjs.compile import prepare
from sandboxes.quickjs.order import WARM_UP
from sandboxes.quickjs.script import Script
from sandboxes.quickjs.vm import VM, Slot

WASM = DEFAULT_FOLDER / FILE_NAME
PLAIN = "return 1+1"
PARALLEL = "return await Promise.all([1, 2, 3, 4].map(i => tools.call('nothing', { i })))"
SEQUENTIAL_CALLS = 50
SEQUENTIAL = f"for (let i = 0; i < {SEQUENTIAL_CALLS}; i++) await tools.call('nothing', {{ i }}); return 1"
VMS = 16

Measure = Callable[[], float]


class NoHost:
    """A host whose one tool does nothing."""

    def __init__(self) -> None:
        self.stop = StopSignal()
        self.spoke = threading.Event()

    def emit(self, event: Event) -> None:
        self.spoke.set()

    def call_tool(self, call: ToolCall) -> str:
        return "null"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=300, help="runs of each row (300)")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="forja-benchmark-") as folder:
        cache = Path(folder) / "cache"
        worker, process = engine("worker", cache), engine("process", cache)
        try:
            compiled = prepare(wasm=WASM, folder=cache, label="benchmark")
            compare(slot=new_slot(compiled.path), hosts=(worker, process), runs=runs)
            measure_stops(worker, name="worker host")
            measure_stops(process, name="child process")
            measure_memory(cache)
        finally:
            worker.close()
            process.close()


def engine(host: str, cache: Path) -> QuickJS:
    made = QuickJS(wasm_path=WASM, cache_dir=cache, host=host, slots=1, instance="benchmark")
    made.warm()
    return made


# ── Speed ───────────────────────────────────────────────────────────────────────────────────────


def compare(*, slot: Slot, hosts: tuple[QuickJS, QuickJS], runs: int) -> None:
    worker, process = hosts
    rows: dict[str, Measure] = {
        "engine, fresh VM": lambda: timed_vm(slot),
        "engine, fresh VM and its end": lambda: timed_vm(slot, with_end=True),
        "worker host": lambda: timed(worker, PLAIN),
        "child process": lambda: timed(process, PLAIN),
        "worker host, 4 parallel calls": lambda: timed(worker, PARALLEL),
        "child process, 4 parallel calls": lambda: timed(process, PARALLEL),
    }
    few: dict[str, Measure] = {
        "worker host, per sequential call": lambda: timed(worker, SEQUENTIAL) / SEQUENTIAL_CALLS,
        "child process, per sequential call": lambda: timed(process, SEQUENTIAL) / SEQUENTIAL_CALLS,
    }
    add_peers(rows, few)
    samples = interleave(rows, runs=runs) | interleave(few, runs=max(10, runs // 10))
    base = statistics.median(samples.get("native quickjs, bare eval", samples["engine, fresh VM"]))
    print(f"{'':36}{'median ms':>10}{'p95':>9}{'ratio':>8}   goal")
    for name, values in samples.items():
        median = statistics.median(values)
        print(f"{name:36}{median:10.3f}{p95(values):9.3f}{median / base:8.2f}   {GOALS.get(name, '')}")


GOALS = {
    "engine, fresh VM": "at most 2x native; at least 100x faster than node -e",
    "child process": "at most 4x",
    "worker host, 4 parallel calls": "at most 6x",
    "child process, 4 parallel calls": "at most 6x",
    "worker host, per sequential call": "at most 0.100 ms",
    "child process, per sequential call": "at most 0.100 ms",
}


def add_peers(rows: dict[str, Measure], few: dict[str, Measure]) -> None:
    try:
        import quickjs  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        print("native quickjs is not installed (pip install quickjs==1.19.4): ratios are to our own engine")
    else:
        rows["native quickjs, bare eval"] = lambda: elapsed_ms(lambda: quickjs.Context().eval("1+1"))
    if node := shutil.which("node"):
        few["node -e"] = lambda: elapsed_ms(lambda: subprocess.run([node, "-e", "1+1"], check=True))
    else:
        print("node is not on PATH: left out")


def interleave(rows: dict[str, Measure], *, runs: int) -> dict[str, list[float]]:
    for measure in rows.values():
        for _ in range(5):
            measure()
    samples: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(runs):
        for name, measure in rows.items():
            samples[name].append(measure())
    return samples


def timed_vm(slot: Slot, *, with_end: bool = False) -> float:
    """A script in a fresh VM in this thread: what the engine itself costs.

    `with_end`: the VM is thrown away and the next one made, which otherwise happens while nobody waits.
    """
    script = new_script(slot)
    began = time.perf_counter()
    end = script.run()
    ran = time.perf_counter()
    script.clear()
    assert end.kind == "report"
    return ((time.perf_counter() if with_end else ran) - began) * 1000


def new_slot(compiled: Path) -> Slot:
    slot = Slot(compiled=compiled)
    new_script(slot).warm_up()
    return slot


def new_script(slot: Slot) -> Script:
    return Script(slot=slot, order=WARM_UP, answers=QueuedAnswers(), deliver=lambda batch: None)


def timed(backend: QuickJS, code: str) -> float:
    job, host = Job(run_id="benchmark", code=code), NoHost()

    def once() -> None:
        outcome = backend.run(job, host)
        assert outcome.error is None, outcome.error

    return elapsed_ms(once)


def elapsed_ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


# ── Stops ───────────────────────────────────────────────────────────────────────────────────────


def measure_stops(backend: QuickJS, *, name: str, runs: int = 100) -> None:
    over = [time_out(backend, timeout_ms=50) for _ in range(runs)]
    stops = [cancel(backend) for _ in range(runs)]
    print(f"{name}: time-out overshoot median {statistics.median(over):.2f} ms, p95 {p95(over):.2f} ms (goal 10)")
    print(f"{name}: cancel to stop median {statistics.median(stops):.2f} ms, p95 {p95(stops):.2f} ms (goal 20)")


def time_out(backend: QuickJS, *, timeout_ms: int) -> float:
    job = Job(run_id="benchmark", code="for (;;);", limits=Limits(timeout_ms=timeout_ms))
    return elapsed_ms(lambda: backend.run(job, NoHost())) - timeout_ms


def cancel(backend: QuickJS) -> float:
    host, ended = NoHost(), threading.Event()

    def go() -> None:
        backend.run(Job(run_id="benchmark", code="console.log(1); for (;;);"), host)
        ended.set()

    threading.Thread(target=go).start()
    host.spoke.wait(5)

    def stop() -> None:
        host.stop.request()
        ended.wait(5)

    return elapsed_ms(stop)


# ── Memory ──────────────────────────────────────────────────────────────────────────────────────


def measure_memory(cache: Path) -> None:
    compiled = prepare(wasm=WASM, folder=cache, label="benchmark")
    slots = [new_slot(compiled.path) for _ in range(VMS)]
    vms = [slot.open(heap_bytes=WARM_UP.heap_bytes, send=lambda op, payload: 0) for slot in slots]
    for vm in vms:
        run_plainly(vm)
    with_vms = own_bytes()
    for vm in vms:
        vm.close()
    each = (with_vms - own_bytes()) / VMS / 1024
    print(f"memory per live VM after {PLAIN!r}: {each:.0f} KiB of its own (goal: under 1024)")
    pids = Path("/proc/self/task").glob("*/children")
    children = [pid for file in pids for pid in file.read_text().split()]
    for pid in children:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        rss, pss = (int(line.split()[1]) for line in rollup.splitlines() if line.startswith(("Rss:", "Pss:")))
        print(f"child process: {rss / 1024:.1f} MiB resident, {pss / 1024:.1f} MiB its own share")


def run_plainly(vm: VM) -> None:
    """The bare calls of a run: the VM stays open after it."""
    code = vm.put(WARM_UP.code + WARM_UP.init)
    init = code + len(WARM_UP.code)
    limits = (WARM_UP.heap_bytes, WARM_UP.stack_bytes, 0.0)
    assert vm.call("fj_run", code, len(WARM_UP.code), init, len(WARM_UP.init), *limits) == 1


def own_bytes() -> int:
    """Memory of this process that no file stands behind; pages of the shared engine image are not counted."""
    status = Path("/proc/self/status").read_text()
    return sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon:"))


if __name__ == "__main__":
    main()
