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


def resident_mib(pid: int) -> dict[str, float]:
    """Resident memory of a process and all below it, in MiB, summed by what they are."""
    found: Counter[str] = Counter()
    for line in (Path("/proc") / str(pid) / "status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            found[role(pid)] += int(line.split()[1])
    for task in (Path("/proc") / str(pid) / "task").glob("*/children"):
        for child in task.read_text().split():
            found.update({name: int(size * 1024) for name, size in resident_mib(int(child)).items()})
    return {name: size / 1024 for name, size in found.items()}


def role(pid: int) -> str:
    """Which of the instance's processes this is."""
    command = (Path("/proc") / str(pid) / "cmdline").read_bytes().decode(errors="replace")
    for mark, name in (("valkey", "broker"), ("celery", "worker"), ("forja_site.web", "web"), ("serve", "supervisor")):
        if mark in command:
            return name
    return "engines"


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
                sizes = resident_mib(instance.process.pid)
                shown = ", ".join(f"{name} {size:.1f}" for name, size in sorted(sizes.items()))
                print(f"{done:>6} runs   {sum(sizes.values()):7.1f} MiB: {shown}", flush=True)
        print(f"how they ended: {dict(ends)}")


if __name__ == "__main__":
    main()
