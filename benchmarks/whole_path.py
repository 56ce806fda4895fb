"""The whole path of a run: HTTP with ?wait, journal, queue, worker, engine, answer.

Starts a private instance, then measures one caller, several, and a cancel. Prints medians and rates; the peer in
the same run is a bare `GET /health` of the same server, so that the ratio shows what the path adds.

    python -m benchmarks.whole_path [--runs 300] [--callers 8]
"""

from __future__ import annotations

import argparse
import threading
import time

from benchmarks.instance import Caller, Instance, describe, timed

SMALL = "return 1+1"


def run_small(caller: Caller, session: str) -> None:
    run = caller.run(session, SMALL)
    assert run["status"] == "succeeded", run


def many_callers(instance: Instance, callers: int, count: int) -> None:
    """Several callers at once, each in a session of its own: latency and runs per second."""
    ready = [(caller, caller.session()) for caller in (Caller(instance) for _ in range(callers))]
    times: list[float] = []

    def work(caller: Caller, session: str) -> None:
        times.extend(timed(lambda: run_small(caller, session), count // callers))

    threads = [threading.Thread(target=work, args=pair) for pair in ready]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = len(times) / (time.perf_counter() - start)
    describe(f"{callers} callers, {SMALL}", times)
    print(f"{'':<46} {rate:.1f} runs/s")


def cancel_once(instance: Instance, caller: Caller, session: str, code: str) -> float:
    """From the cancel request to the answer of a caller who waits for the terminal row, in milliseconds."""
    run_id = caller.start(session, code)
    while caller.send("GET", f"/api/runs/{run_id}")[1]["status"] != "running":
        time.sleep(0.005)
    start = time.perf_counter()
    caller.send("POST", f"/api/runs/{run_id}/cancel")
    while caller.send("GET", f"/api/runs/{run_id}")[1]["status"] == "running":
        time.sleep(0.002)
    return (time.perf_counter() - start) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--callers", type=int, default=8)
    options = parser.parse_args()
    with Instance() as instance:
        caller = Caller(instance)
        session = caller.session()
        timed(lambda: run_small(caller, session), 30)
        health = describe("GET /health, one caller", timed(lambda: caller.send("GET", "/health"), options.runs))
        one = describe(f"one caller, {SMALL}", timed(lambda: run_small(caller, session), options.runs))
        print(f"{'':<46} {one / health:.2f} times a bare GET")
        many_callers(instance, options.callers, options.runs * 2)
        for code in ("for(;;);", "return /^(a+)+$/.test('a'.repeat(40) + 'b')"):
            cancels = [cancel_once(instance, caller, session, code) for _ in range(40)]
            describe(f"cancel to terminal row: {code[:20]}", cancels)


if __name__ == "__main__":
    main()
