"""The fixture tools do what the cases expect of them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from tests import fixture_tools


def test_fx_sleep_hears_a_stop_and_then_counts_nothing(box):
    threading.Timer(0.1, box.stop.request).start()
    started = time.monotonic()
    assert box.refused("fx_sleep", ms=20_000, then_count="late").code == "CANCELLED"
    assert time.monotonic() - started < 5
    assert fixture_tools.counter("late") == 0


def test_fx_sleep_can_be_told_to_ignore_a_stop(box):
    box.stop.request()
    slept = box.call("fx_sleep", ms=50, label="a", then_count="late", ignore_abort=True)
    assert (slept["label"], slept["ms"] >= 50, fixture_tools.counter("late")) == ("a", True, 1)


def test_fx_count_counts_across_processes(box):
    assert [box.call("fx_count", key="k")["n"] for _ in range(3)] == [1, 2, 3]
    code = "from tests.fixture_tools import counter; print(counter('k'))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert seen.stdout.strip() == "3"


def test_fx_gauge_knows_how_many_were_at_work_at_once(box):
    peaks: list[int] = []
    threads = [
        threading.Thread(target=lambda i=i: peaks.append(box.call("fx_gauge", i=i, ms=300)["peak"])) for i in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert max(peaks) == 3


def test_fx_both_and_fx_link_answer_with_content(box):
    both = box.call("fx_both")
    assert (both["content"][0]["text"], both["rows"], both["content"][1]["type"]) == ("hola", 3, "image")
    assert [block["type"] for block in box.call("fx_link")["content"]] == ["resource_link", "hologram"]
