"""Nested calls as the engine serves them: order, bounds, refusals, answers that come too late."""

from __future__ import annotations

import threading
import time

import pytest

from sandboxes.base import MAX_TOOL_RESULT_BYTES, CallFinished, CallStarted, ToolCall
from sandboxes.errors import PermissionDenied, ToolError
from tests.sandboxes.engine_host import FakeHost, assert_next_run_is_fine, run, stubborn


class Gauge:
    """A tool that counts how many calls run at once."""

    def __init__(self, seconds: float = 0.01) -> None:
        self.peak = self._now = 0
        self._seconds = seconds
        self._lock = threading.Lock()

    def __call__(self, call: ToolCall) -> str:
        with self._lock:
            self._now += 1
            self.peak = max(self.peak, self._now)
        time.sleep(self._seconds)
        with self._lock:
            self._now -= 1
        return call.arguments_json


def test_it_runs_at_most_so_many_calls_at_once_and_refuses_the_rest(engine):
    gauge = Gauge()
    code = """const t = Array.from({ length: 60 }, (_, i) => tools.call('gauge', { i }));
const r = await Promise.allSettled(t);
return { ok: r.filter(x => x.status === 'fulfilled').length,
  codes: [...new Set(r.filter(x => x.reason).map(x => x.reason.code))],
  order: r.filter(x => x.value).every((x, i) => x.value.i === i) }"""
    ran = run(engine, code, host=FakeHost(gauge), max_tool_calls=50, max_concurrency=4)
    assert ran.value == {"ok": 50, "codes": ["TOOL_LIMIT"], "order": True}
    assert gauge.peak == 4
    assert len(ran.host.reached) == 50
    assert ran.host.started() == list(range(1, 61))
    assert sorted(ran.host.statuses().values()) == ["refused"] * 10 + ["succeeded"] * 50


def test_calls_wait_for_a_slot_in_the_order_they_were_made(engine):
    ran = run(engine, "await Promise.all([1, 2, 3, 4, 5, 6].map(i => tools.call('t', { i })))", max_concurrency=1)
    assert [call.arguments_json for call in ran.host.reached] == [f'{{"i":{i}}}' for i in range(1, 7)]
    queued = [event.queued_ms for event in ran.host.finished()]
    assert queued[-1] > queued[0] >= 0


def test_a_failing_call_frees_its_slot_and_can_be_caught(engine):
    def fail(call: ToolCall) -> str:
        raise ToolError("disk gone", hint="Look for it.")

    code = """const seen = [];
for (let i = 0; i < 6; i++)
  try { await tools.call('t', {}) } catch (e) { seen.push([e.code, e.message, e.hint, e.tool]) }
return seen"""
    ran = run(engine, code, host=FakeHost(fail), max_concurrency=1)
    assert ran.value == [["TOOL_ERROR", "disk gone", "Look for it.", "t"]] * 6
    assert set(ran.host.statuses().values()) == {"failed"}
    assert ran.host.finished()[0].error == {"code": "TOOL_ERROR", "message": "disk gone", "hint": "Look for it."}


def test_a_denied_call_is_told_as_refused(engine):
    def deny(call: ToolCall) -> str:
        raise PermissionDenied("no")

    ran = run(engine, "return await tools.call('t', {}).catch(e => e.code)", host=FakeHost(deny))
    assert (ran.value, ran.host.statuses()) == ("PERMISSION_DENIED", {1: "refused"})


def test_a_tool_that_breaks_inside_tells_the_script_nothing_about_it(engine):
    def broken(call: ToolCall) -> str:
        raise RuntimeError("/secret/path")

    ran = run(engine, "return await tools.call('t', {}).catch(e => [e.code, e.message])", host=FakeHost(broken))
    assert ran.value == ["INTERNAL", "t: something in Forja failed"]


def test_the_clock_moves_when_a_call_settles_and_events_follow_that_order(engine):
    code = """const t0 = Date.now(); await tools.call('t', {}); const t1 = Date.now();
for (let i = 0; i < 1e5; i++); return [t0, t1, Date.now()]"""
    ran = run(engine, code, host=FakeHost(Gauge(seconds=0.03)))
    before, after, still = ran.value
    assert (before, after) == (1_700_000_000_000, ran.host.finished()[0].clock_ms)
    assert after - before >= 30
    assert still == after
    assert [type(event) for event in ran.host.events] == [CallStarted, CallFinished]


def test_a_large_result_arrives_whole(engine):
    text = "x" * 3_000_000 + "END!!"
    ran = run(
        engine,
        "const r = await tools.call('t', {}); return [r.length, r.slice(-5)]",
        host=FakeHost(lambda call: f'"{text}"'),
    )
    assert ran.value == [3_000_005, "END!!"]


def test_a_result_above_the_cap_can_be_caught(engine):
    huge = '"' + "x" * MAX_TOOL_RESULT_BYTES + '"'
    ran = run(
        engine, "return await tools.call('t', {}).catch(e => e.code)", host=FakeHost(lambda call: huge), timeout_ms=9000
    )
    assert ran.value == "TOOL_RESULT_TOO_LARGE"
    assert ran.host.statuses() == {1: "failed"}


def test_a_result_that_does_not_fit_into_the_heap_can_be_caught(engine):
    text = '"' + "x" * (15 * 1024 * 1024) + '"'
    code = "return await tools.call('t', {}).then(r => r.length, e => e.code)"
    ran = run(engine, code, host=FakeHost(lambda call: text), memory_bytes=8 * 1024 * 1024, timeout_ms=9000)
    assert ran.value == "TOOL_RESULT_TOO_LARGE" or ran.code == "MEMORY_LIMIT"
    assert_next_run_is_fine(engine)


def test_a_result_that_nests_too_deeply_can_be_caught(engine):
    deep = "[" * 100_000 + "]" * 100_000
    ran = run(engine, "return await tools.call('t', {}).catch(e => e.code)", host=FakeHost(lambda call: deep))
    assert ran.value == "TOOL_RESULT_TOO_LARGE"


def test_lone_surrogates_in_a_result_survive_the_way(engine):
    ran = run(engine, "return (await tools.call('t', {})).charCodeAt(0)", host=FakeHost(lambda call: '"\udc80"'))
    assert ran.value == 0xDC80


def test_the_time_limit_holds_while_a_tool_that_ignores_the_stop_is_awaited(engine):
    release = threading.Event()
    try:
        ran = run(engine, "await tools.call('t', {}); return 'late'", host=FakeHost(stubborn(release)), timeout_ms=300)
        assert ran.code == "TIMEOUT"
        assert 0.29 < ran.seconds < 0.8
        assert ran.host.statuses() == {1: "cancelled"}
        assert ran.host.reached[0].stop.is_set()
        told = len(ran.host.events)
    finally:
        release.set()
    assert_next_run_is_fine(engine)
    assert len(ran.host.events) == told, "a late answer changed the run"


def test_stuck_tools_never_take_the_slots_away(engine):
    release = threading.Event()
    codes: list[str | None] = []

    def one() -> None:
        ran = run(engine, "await tools.call('t', {})", host=FakeHost(stubborn(release)), timeout_ms=200)
        codes.append(ran.code)

    threads = [threading.Thread(target=one) for _ in range(40)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert codes == ["TIMEOUT"] * 40
        assert run(engine, "return 'ok'").value == "ok"
    finally:
        release.set()


def test_a_call_in_flight_at_the_end_settles_for_itself_and_fails_the_run(engine):
    ran = run(engine, "tools.call('save', {}); return 'SAVED'", host=FakeHost(Gauge(seconds=0.05)))
    assert ran.code == "UNAWAITED_CALL"
    assert "save" in ran.outcome.error.message
    assert ran.host.statuses() == {1: "succeeded"}


def test_a_call_that_takes_too_long_after_the_end_is_stopped(engine):
    release = threading.Event()
    try:
        ran = run(engine, "tools.call('save', {}); return 'SAVED'", host=FakeHost(stubborn(release)))
        assert (ran.code, ran.host.statuses()) == ("UNAWAITED_CALL", {1: "cancelled"})
        assert 0.2 < ran.seconds < 1
    finally:
        release.set()


def test_a_loser_of_a_race_is_stopped_and_no_failure(engine):
    release = threading.Event()
    try:
        ran = run(engine, "return await Promise.race([tools.call('t', {}), 5])", host=FakeHost(stubborn(release)))
        assert (ran.value, ran.host.statuses()) == (5, {1: "cancelled"})
        assert ran.seconds < 0.2
    finally:
        release.set()


def test_a_wait_that_nothing_can_end_is_a_deadlock(engine):
    assert run(engine, "await new Promise(() => {})").code == "DEADLOCK"
    assert_next_run_is_fine(engine)


def test_a_flood_of_calls_past_the_limit_is_bounded(engine):
    code = """const calls = Array.from({ length: 20000 }, () => tools.call('t', {}).then(() => 'ok', e => e.code));
const codes = await Promise.all(calls);
return codes.filter(code => code === 'TOOL_LIMIT').length"""
    ran = run(engine, code, max_tool_calls=5, timeout_ms=20_000)
    assert ran.value == 19_995
    assert len(ran.host.reached) == 5
    assert len(ran.host.events) <= 2 * (5 + 1000)


def test_an_event_that_cannot_be_taken_ends_the_run_and_is_raised(engine):
    class Broken(FakeHost):
        def emit(self, event):
            raise OSError("the journal is gone")

    with pytest.raises(OSError, match="the journal is gone"):
        run(engine, "console.log(1); await tools.call('t', {}); for (;;);", host=Broken(), timeout_ms=5000)
    assert_next_run_is_fine(engine)
