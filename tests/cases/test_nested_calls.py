"""Failures that users of such tools met: tool calls made by scripts. Each with the value that is right."""

from __future__ import annotations

import time

import pytest


def test_two_tools_of_similar_name_stay_two(forja):
    run = forja.run(
        "const a = await tools.call('get.weather', { q: 1 });\n"
        "const b = await tools.call('get-weather', { q: 2 });\nreturn [a.tool, b.tool];"
    )
    assert run["value"] == ["get.weather", "get-weather"], run.get("error")


def test_three_megabytes_reach_the_script_whole(forja):
    run = forja.run(
        "const r = await tools.call('fx_blob', { bytes: 3000000 });\n"
        "return { len: r.text.length, tail: r.text.slice(-5) };"
    )
    assert run["value"] == {"len": 3_000_000, "tail": "END!!"}, run.get("error")
    assert run["metrics"]["bytesThroughCalls"] > 3_000_000
    assert len(forja.client.get(f"/api/runs/{run['id']}").content) < 20_000
    call = forja.client.get(f"/api/runs/{run['id']}/calls/1").json()
    assert len(call["result"]["text"]) == 3_000_000


def test_each_way_to_fail_has_its_own_code(forja):
    run = forja.run(
        "const r = {};\nfor (const kind of ['iserror', 'protocol', 'throw', 'exit'])\n"
        "  r[kind] = await tools.call('fx_fail', { kind }).then(() => 'resolved', e => e.code);\n"
        "r.after = await tools.call('fx_echo', { ok: 1 }).then(x => x.ok, e => e.code);\nreturn r;"
    )
    assert run["value"] == {
        "iserror": "TOOL_ERROR",
        "protocol": "TOOL_PROTOCOL_ERROR",
        "throw": "INTERNAL",
        "exit": "TOOL_UNAVAILABLE",
        "after": 1,
    }
    assert [call["status"] for call in run["calls"]["items"]] == ["failed"] * 4 + ["succeeded"]
    assert [call["error"]["code"] for call in run["calls"]["items"][:4]] == [
        run["value"][kind] for kind in ("iserror", "protocol", "throw", "exit")
    ]


def test_calls_are_bounded_in_number_and_at_once(forja):
    run = forja.run(
        "const t = Array.from({ length: 60 }, (_, i) => tools.call('fx_gauge', { i, ms: 30 }));\n"
        "const r = await Promise.allSettled(t);\n"
        "return { ok: r.filter(x => x.status === 'fulfilled').length,\n"
        "  codes: [...new Set(r.filter(x => x.reason).map(x => x.reason.code))],\n"
        "  order: r.filter(x => x.value).every((x, i) => x.value.i === i),\n"
        "  peak: Math.max(...r.filter(x => x.value).map(x => x.value.peak)) };"
    )
    assert run["value"] == {"ok": 50, "codes": ["TOOL_LIMIT"], "order": True, "peak": 4}
    assert (run["calls"]["started"], run["calls"]["finished"], run["calls"]["refused"]) == (60, 50, 10)


def test_a_tool_that_ignores_the_stop_does_not_hold_the_run(forja):
    session = forja.session()
    run = forja.start_run(
        "await tools.call('fx_sleep', { ms: 5000, ignore_abort: true, then_count: 'late' }); return 1", session=session
    )
    forja.running(run["id"])
    start = time.monotonic()
    assert forja.cancel(run["id"]).status_code == 200
    ended = forja.ended(run["id"])
    assert time.monotonic() - start < 3
    assert ended["status"] == "cancelled"
    assert forja.value("return 2", session=session) == 2
    assert forja.cancel(run["id"]).json()["error"]["code"] == "ALREADY_FINISHED"


def test_the_tools_that_run_scripts_are_not_callable_from_one(forja):
    run = forja.run(
        "return [await Promise.all(['js_run','python_run','forge_guide','execute'].map(n =>\n"
        "  tools.call(n, { code: 'return 1', topic: 'limits' }).then(() => n + ' ran', e => e.code))),\n"
        "  tools.list().map(t => t.name).filter(n => /run|execute|guide/.test(n))]"
    )
    assert run["value"] == [["NOT_CALLABLE"] * 4, []]


def test_stuck_tools_never_take_the_slots_away(forja):
    session = forja.session()
    code = "await tools.call('fx_sleep', { ms: 20000, ignore_abort: true })"
    stuck = [forja.start_run(code, session=session, timeoutMs=1000) for _ in range(20)]
    assert forja.value("return 'ok'", session=forja.session()) == "ok"
    ends = [forja.ended(run["id"], 60) for run in stuck]
    assert {run["status"] for run in ends} == {"timed_out"}
    assert forja.value("return 'ok'", session=session) == "ok"


def test_a_script_reads_real_files_in_parallel(forja):
    run = forja.run(
        "const { entries } = await tools.list_files({ glob: '**/*' });\n"
        "const files = entries.filter(e => e.type === 'file');\n"
        "const texts = await Promise.all(files.map(f => tools.read_file({ path: f.path })));\n"
        "const sum = (list) => list.reduce((total, item) => total + item.bytes, 0);\n"
        "return sum(texts) === sum(files) && files.length"
    )
    assert run["value"] >= 2, run.get("error")


def test_a_write_outside_the_scratchpad_asks_and_a_script_cannot(forja):
    run = forja.run(
        "await tools.write_file({ path: 'scratch:note.txt', text: 'mine' });\n"
        "const kept = await tools.read_file({ path: 'scratch:note.txt' });\n"
        "const refused = await tools.write_file({ path: 'note.txt', text: 'no' }).catch(e => e.code);\n"
        "return [kept.text, refused]"
    )
    assert run["value"] == ["mine", "APPROVAL_REQUIRED"]


def test_a_script_kept_in_the_scratchpad_runs_by_its_path(forja):
    session = forja.session()
    forja.run("await tools.write_file({ path: 'scratch:scan.js', text: 'return 6 * 7' }); return 1", session=session)
    answer = forja.client.post(
        f"/api/sessions/{session}/runs", params={"wait": 10}, json={"tool": "js_run", "codePath": "scan.js"}
    )
    assert (answer.status_code, answer.json()["value"]) == (200, 42)
    outside = forja.client.post(f"/api/sessions/{session}/runs", json={"tool": "js_run", "codePath": "../scan.js"})
    assert (outside.status_code, outside.json()["error"]["code"]) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("count", [11, 12, 14])
def test_results_that_fill_the_heap_are_told_as_such(forja, count):
    run = forja.run(
        "const kept = [];\n"
        "for (let i = 0; i < args.count; i++) kept.push(await tools.call('fx_blob', { bytes: 3000000 }));\n"
        "return kept.length",
        args={"count": count},
    )
    assert run["status"] == "failed"
    assert run["error"]["code"] in ("MEMORY_LIMIT", "SCRIPT_ERROR"), run["error"]


def test_a_result_as_large_as_the_heap_allows_no_more_can_be_caught(forja):
    code = (
        "const r = await tools.call('fx_blob', { bytes: 16700000 }).catch(e => e.code);\n"
        "return r.text ? r.text.length : r"
    )
    assert forja.value(code) in (16_700_000, "TOOL_RESULT_TOO_LARGE")


def test_two_megabytes_are_written_with_one_call(forja):
    written = forja.value(
        "const { bytes } = await tools.write_file({ path: 'scratch:big.txt', text: 'x'.repeat(2 * 1024 * 1024) });\n"
        "return [bytes, (await tools.read_file({ path: 'scratch:big.txt' })).text.length]"
    )
    assert written == [2 * 1024 * 1024, 2 * 1024 * 1024]
