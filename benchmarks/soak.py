"""Two thousand mixed runs (good, failing, timed out, trapped, cancelled): memory must stay flat.

    python -m benchmarks.soak [--runs 2000]

Prints the resident memory of all processes of a private instance after the warm-up and along the way.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from pathlib import Path

from benchmarks.instance import Caller, Instance

SCRIPTS = (
    ("return 1 + 1", {}),
    ("const { entries } = await tools.list_files({}); return entries.length", {}),
    ("for (let i = 0; i < 2000; i++) console.log('line ' + i); return 1", {}),
    ("const keep = []; for (let i = 0; i < 20000; i++) keep.push({ i }); return keep.length", {}),
    ("for (;;);", {"timeoutMs": 20}),
    ("const f = () => 1 + f(); return f()", {}),
    ("JSON.parse('['.repeat(200000)); return 1", {}),
    ("const all = []; for (;;) all.push(new Array(1e5).fill(1))", {"timeoutMs": 2000}),
    ("throw new Error('no')", {}),
    ("return (", {}),
)


def resident_kib(pid: int) -> int:
    """Resident memory of a process and all below it, in KiB."""
    total = 0
    for line in (Path("/proc") / str(pid) / "status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            total = int(line.split()[1])
    for task in (Path("/proc") / str(pid) / "task").glob("*/children"):
        total += sum(resident_kib(int(child)) for child in task.read_text().split())
    return total


def mixed(caller: Caller, session: str, source: random.Random, ends: Counter[str]) -> None:
    if source.random() < 0.1:
        run_id = caller.start(session, "for (;;);")
        caller.send("POST", f"/api/runs/{run_id}/cancel")
        while "finishedAt" not in (run := caller.send("GET", f"/api/runs/{run_id}")[1]):
            time.sleep(0.005)
    else:
        code, fields = source.choice(SCRIPTS)
        run = caller.run(session, code, **fields)
    ends[str(run["status"])] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    options = parser.parse_args()
    source, ends = random.Random(1), Counter[str]()
    with Instance() as instance:
        caller = Caller(instance)
        for done in range(options.runs + 1):
            if done % 50 == 0:
                session = caller.session()
            mixed(caller, session, source, ends)
            if done % (options.runs // 10) == 0:
                print(
                    f"{done:>6} runs   {resident_kib(instance.process.pid) / 1024:8.1f} MiB   {dict(ends)}", flush=True
                )


if __name__ == "__main__":
    main()
