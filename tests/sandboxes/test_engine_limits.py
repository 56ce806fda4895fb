"""Time, memory, stack and output: each ends the run in its own way, and the next run knows nothing of it."""

from __future__ import annotations

import pytest

from sandboxes.base import MAX_STORED_OUTPUT_BYTES, Output
from tests.sandboxes.engine_host import assert_next_run_is_fine, run

ENDLESS = {
    "a loop": "for (;;);",
    "a catching loop": "for (;;) { try { for (;;); } catch (e) {} finally { continue; } }",
    "an async retry": "async function tick() { await 0; for (;;); }\n"
    "const again = () => tick().then(again, again);\nawait again();",
    "microtasks": "const f = () => Promise.resolve().then(f); await f(); ",
    "await in a loop": "for (;;) await null;",
    "a regular expression": "return /^(a+)+$/.test('a'.repeat(60) + 'b')",
    "a sort": "for (;;) [3, 1, 2].sort(() => { for (;;); })",
    "a search": "return new Array(2 ** 31).indexOf(1)",
    "a join": "return new Array(2 ** 28).join()",
    "a JSON bomb": "for (let s = '1'; ; ) { try { s = JSON.stringify([s, s]); } catch (e) { s = '1'; } }",
    "a toJSON": "return { toJSON() { for (;;); } }",
    "a getter": "return { get x() { for (;;); } }",
    "a thenable": "return { then() { for (;;); } }",
    "an allocation": "for (;;) { try { const keep = []; for (;;) keep.push(new Array(5000).fill(7)); } catch (e) {} }",
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS.keys())
def test_it_stops_whatever_does_not_end(engine, code):
    ran = run(engine, code, timeout_ms=150)
    assert ran.code == "TIMEOUT"
    assert ran.outcome.error.details["limit"] == 150
    assert 0.14 < ran.seconds < 1.15
    assert_next_run_is_fine(engine)


def test_it_catches_runaway_recursion_and_the_next_run_is_fine(engine):
    code = """const o = { get a() { return this.a } };
try { o.a } catch (e) { console.log(e.name) }
const f = n => 1 + f(n + 1); return f(0);"""
    ran = run(engine, code)
    assert (ran.code, ran.host.text()) == ("STACK_LIMIT", "RangeError\n")
    assert ran.outcome.error.details["line"] == 3
    assert_next_run_is_fine(engine)


def test_it_ends_only_the_run_when_the_engines_own_stack_overflows(engine):
    ran = run(engine, "const s = '['.repeat(200000) + ']'.repeat(200000); return JSON.parse(s)")
    assert ran.code == "STACK_LIMIT"
    assert_next_run_is_fine(engine)


@pytest.mark.parametrize("keep", ["const keep = [];", "globalThis.keep = [];"])
def test_it_ends_a_script_that_keeps_too_much(engine, keep):
    ran = run(engine, f"{keep} for (;;) keep.push(new Array(2000).fill(7))")
    assert ran.code == "MEMORY_LIMIT"
    assert_next_run_is_fine(engine)


def test_a_script_that_catches_being_out_of_memory_is_still_bounded(engine):
    code = """const keep = [];
for (;;) { try { keep.push(new Array(200000).fill(7)) } catch (e) { keep.seen = (keep.seen || 0) + 1 } }"""
    ran = run(engine, code, timeout_ms=700)
    assert ran.code in ("TIMEOUT", "MEMORY_LIMIT")
    assert ran.outcome.metrics["peakMemoryBytes"] <= (32 + 24) * 1024 * 1024
    assert_next_run_is_fine(engine)


@pytest.mark.parametrize("code", ["let s = 'x'; for (;;) s += s", "return new ArrayBuffer(2 ** 31)"])
def test_one_value_that_is_too_large_can_be_caught(engine, code):
    assert run(engine, f"try {{ {code} }} catch (e) {{ return e instanceof Error }}").value is True
    assert_next_run_is_fine(engine)


def test_a_larger_heap_and_stack_are_given_when_asked_for(engine):
    deep = "const f = n => n ? 1 + f(n - 1) : 0; return f(1000)"
    assert run(engine, deep).code == "STACK_LIMIT"
    assert run(engine, deep, stack_bytes=512 * 1024).value == 1000
    large = "return new Array(6e6).fill(1.5).length"
    assert run(engine, large).code == "MEMORY_LIMIT"
    assert run(engine, large, memory_bytes=128 * 1024 * 1024).value == 6_000_000


def test_much_output_arrives_whole_in_few_events(engine):
    ran = run(engine, "for (let i = 0; i < 20000; i++) console.log('row ' + i); return 1")
    lines = ran.host.text().splitlines()
    assert (len(lines), lines[0], lines[-1]) == (20000, "row 0", "row 19999")
    assert len(ran.host.events) < 100


def test_the_streams_keep_their_order_and_stay_apart(engine):
    ran = run(engine, "for (let i = 0; i < 3; i++) { console.log('o' + i); console.error('e' + i); }")
    assert [event.text for event in ran.host.events] == ["o0\n", "e0\n", "o1\n", "e1\n", "o2\n", "e2\n"]


def test_a_flood_of_tiny_changes_between_streams_is_joined(engine):
    ran = run(engine, "for (let i = 0; i < 20000; i++) { console.log('o'); console.error('e'); }")
    assert len(ran.host.events) < 4000
    assert (ran.host.text("stdout"), ran.host.text("stderr")) == ("o\n" * 20000, "e\n" * 20000)


def test_what_is_printed_beyond_the_cap_is_dropped_and_counted(worker_engine):
    code = "const s = 'x'.repeat(1 << 20); for (let i = 0; i < 66; i++) console.log(s); return 1"
    ran = run(worker_engine, code)
    kept = sum(len(event.text.encode()) for event in ran.host.events if isinstance(event, Output))
    assert ran.value == 1
    assert kept == MAX_STORED_OUTPUT_BYTES
    assert ran.outcome.metrics["droppedStdoutBytes"] == 66 * ((1 << 20) + 1) - MAX_STORED_OUTPUT_BYTES


def test_a_line_is_seen_while_the_script_goes_on(engine):
    ran = run(engine, "console.log('early'); for (;;);", timeout_ms=400)
    assert (ran.code, ran.host.text()) == ("TIMEOUT", "early\n")


def test_lone_surrogates_become_visible(engine):
    ran = run(engine, "console.log('a\\ud83d!')")
    assert ran.host.text() == "a\\ud83d!\n"


def test_each_step_of_progress_is_told_until_they_are_a_flood(engine):
    few = run(engine, "for (let i = 1; i <= 20; i++) progress({ completed: i, total: 20 })")
    assert [event.completed for event in few.host.events] == list(range(1, 21))
    many = run(engine, "for (let i = 1; i <= 5000; i++) progress({ completed: i, total: 5000 })")
    assert len(many.host.events) < 500
    assert many.host.events[-1].completed == 5000


def test_every_run_has_its_own_seed_and_a_clock_that_stands_still(engine):
    code = "const t = Date.now(); for (let i = 0; i < 1e5; i++); return [Date.now() - t, t, Math.random()]"
    first, again, other = run(engine, code, seed=7), run(engine, code, seed=7), run(engine, code, seed=8)
    assert first.value == again.value
    assert first.value[:2] == [0, 1_700_000_000_000]
    assert first.value[2] != other.value[2]


def test_nothing_of_one_run_is_left_in_the_next(engine):
    run(engine, "globalThis.left = 1; Array.prototype.left = 2; Object.prototype.left = 3; Promise = null")
    assert run(engine, "return [typeof left, [].left === undefined, typeof Promise]").value == [
        "undefined",
        True,
        "function",
    ]


def test_a_background_loop_ends_with_its_script(engine):
    ran = run(engine, "(async () => { for (;;) await 0 })(); return 3")
    assert ran.value == 3
    assert ran.seconds < 1


def test_it_measures_what_it_reports(engine):
    metrics = run(engine, "let n = 0; for (let i = 0; i < 3e6; i++) n += i; return n").outcome.metrics
    assert metrics["durationMs"] > 5
    assert metrics["cpuMs"] > 5
    assert 0 < metrics["startupMs"] < 1000
    assert metrics["peakMemoryBytes"] > 2 * 1024 * 1024
