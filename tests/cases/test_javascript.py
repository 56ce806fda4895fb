"""Failures that users of such tools met: the language and its results. Each with the value that is right."""

from __future__ import annotations

import time

import pytest


def test_a_failing_call_that_nobody_awaits_is_no_success(forja):
    run = forja.run("tools.call('fx_fail', { kind: 'throw', message: 'disk gone' });   // no await\nreturn 'SAVED';")
    assert run["status"] == "failed"
    assert run["error"]["code"] in ("UNAWAITED_CALL", "UNHANDLED_REJECTION")
    assert "fx_fail" in run["error"]["message"] and run["error"]["line"] == 1
    assert "await" in run["error"]["hint"].lower()
    assert run["calls"]["items"][0]["status"] == "failed"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        (
            "const p = tools.call('fx_fail',{kind:'throw'}); await null;\ntry { await p } catch { return 'handled' }",
            "handled",
        ),
        (
            (
                "const calls = [tools.call('fx_fail',{kind:'throw'}), tools.call('fx_echo',{a:1})];\n"
                "return (await Promise.allSettled(calls)).map(x => x.status)"
            ),
            ["rejected", "fulfilled"],
        ),
        (
            "return (await Promise.race([tools.call('fx_sleep',{ms:5000}), tools.call('fx_echo',{a:1})])).a",
            1,
        ),
    ],
)
def test_handled_failures_and_losers_raise_no_alarm(forja, code, value):
    run = forja.run(code)
    assert (run["status"], run.get("value")) == ("succeeded", value), run.get("error")


def test_a_script_that_returns_nothing_says_so_and_keeps_its_calls(forja):
    run = forja.run("const r = await tools.call('fx_echo', { total: 1234 });\nr.total * 2;")
    assert (run["status"], run["value"]) == ("succeeded", None)
    assert "return" in run["hint"] and "1" in run["hint"]
    call = forja.client.get(f"/api/runs/{run['id']}/calls/1").json()
    assert call["result"] == {"total": 1234}


def test_circular_and_throwing_objects_are_logged_and_named(forja, next_run_is_fine):
    run = forja.run(
        "const a = { n: 1 }; a.self = a;\n"
        "console.log('see', a);\n"
        "const trapped = new Proxy({}, { ownKeys() { throw new Error('trap') } });\n"
        "console.log(trapped, { get x() { throw new Error('getter') } });\n"
        "return a;"
    )
    assert (run["status"], run["error"]["code"]) == ("failed", "RESULT_NOT_SERIALIZABLE")
    assert "$.self" in run["error"]["message"]
    assert "[Circular" in run["output"]["text"] and len(run["output"]["text"].splitlines()) >= 2
    next_run_is_fine(run["session"])


def test_much_output_is_kept_at_both_ends_and_whole_on_disk(forja):
    run = forja.run("for (let i = 0; i < 300000; i++) console.log('row ' + i);\nreturn { rows: 300000 };")
    assert (run["status"], run["value"]) == ("succeeded", {"rows": 300000}), run.get("error")
    text = run["output"]["text"]
    assert len(text) <= 16_000
    assert text.startswith("row 0\n") and text.endswith("row 299999\n")
    assert run["output"]["chars"] == sum(len(f"row {i}\n") for i in range(300_000))
    assert run["output"]["omitted"] > 3_000_000
    whole = forja.client.get(f"/api/runs/{run['id']}/output", params={"stream": "stdout"})
    assert whole.text.splitlines() == [f"row {i}" for i in range(300_000)]


def test_runaway_recursion_ends_its_own_run_only(forja, next_run_is_fine):
    run = forja.run(
        "const o = { get a() { return this.a } };\n"
        "try { o.a } catch (e) { console.log(e.name) }\n"
        "const f = n => 1 + f(n + 1); return f(0);"
    )
    assert (run["status"], run["error"]["code"], run["error"]["line"]) == ("failed", "STACK_LIMIT", 3)
    assert run["output"]["text"].strip() in ("RangeError", "InternalError")
    next_run_is_fine(run["session"])


def test_a_time_limit_cannot_be_caught(forja, next_run_is_fine):
    start = time.monotonic()
    run = forja.run(
        "async function tick() { await 0; for (;;); }\nconst again = () => tick().then(again, again);\nawait again();",
        timeoutMs=1500,
    )
    assert (run["status"], run["error"]["code"]) == ("timed_out", "TIMEOUT")
    assert time.monotonic() - start < 4
    assert 1500 <= run["metrics"]["durationMs"] < 2500
    next_run_is_fine(run["session"])


@pytest.mark.parametrize("stubborn", [False, True])
def test_the_time_limit_holds_while_a_tool_is_awaited(forja, stubborn):
    code = "await tools.call('fx_sleep', { ms: 4000, ignore_abort: args.stubborn });\nreturn 'late';"
    run = forja.run(code, timeoutMs=1000, args={"stubborn": stubborn})
    assert run["status"] == "timed_out"
    assert 1000 <= run["metrics"]["durationMs"] < 2000
    assert run["calls"]["items"][0]["status"] == "cancelled"


def test_a_caught_memory_bomb_is_ended(forja, next_run_is_fine):
    run = forja.run(
        "const keep = [];\n"
        "for (;;) { try { keep.push(new Array(200000).fill(7)) } catch (e) { keep.seen = (keep.seen || 0) + 1 } }",
        timeoutMs=3000,
    )
    assert run["error"]["code"] in ("MEMORY_LIMIT", "TIMEOUT")
    assert run["metrics"]["durationMs"] < 4000
    next_run_is_fine(run["session"])


@pytest.mark.parametrize("code", ["let s='x'; for(;;) s+=s", "return new ArrayBuffer(2**31)"])
def test_one_too_large_a_value_is_an_ordinary_error(forja, code):
    caught = forja.run("try { " + code + " } catch (e) { return 'caught ' + e.name }")
    assert caught["status"] == "succeeded" and caught["value"].startswith("caught "), caught.get("error")


def test_await_in_a_plain_function_is_explained(forja):
    run = forja.run(
        "function load() {\n  const r = await tools.call('fx_echo', { a: 1 });\n  return r;\n}\nreturn load();"
    )
    assert (run["error"]["code"], run["error"]["line"]) == ("SYNTAX_ERROR", 2)
    assert "async" in run["error"]["hint"]
    assert forja.value("const r = await tools.call('fx_echo',{a:1}); return r.a") == 1


def test_typescript_is_named_as_such(forja):
    run = forja.run(
        "interface Row { id: number }\nconst rows: Row[] = [{ id: 1 }];\nreturn rows.map((r: Row) => r.id) as number[];"
    )
    assert (run["error"]["code"], run["error"]["line"]) == ("SYNTAX_ERROR", 1)
    assert "type annotations" in run["error"]["hint"]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("return structuredClone({a:1}).a", 1),
        ("return new TextEncoder().encode('ñ').length", 2),
        ("return atob('aGk=')", "hi"),
        ("return new URL('https://a.b/c?d=1').searchParams.get('d')", "1"),
    ],
)
def test_harmless_helpers_work(forja, code, value):
    assert forja.value(code) == value


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("await new Promise(r => setTimeout(r, 20)); return 1", "setTimeout"),
        ("return crypto.randomUUID().length", "crypto"),
        ("await fetch('https://example.com')", "fetch"),
        ("require('fs')", "require"),
        ("process.env", "process"),
    ],
)
def test_what_is_absent_says_what_to_use_instead(forja, code, name):
    run = forja.run(code)
    assert (run["status"], run["error"]["code"]) == ("failed", "SCRIPT_ERROR")
    assert name in run["error"]["message"] and len(run["error"]["hint"]) > 20


def test_a_syntax_error_has_its_name_line_column_and_source(forja):
    run = forja.run("const a = 1;\nconst b = 2;\nconst c = ;\nreturn a + b;")
    error = run["error"]
    assert (error["code"], error["name"], error["line"], error["source"]) == (
        "SYNTAX_ERROR",
        "SyntaxError",
        3,
        "const c = ;",
    )
    assert error["column"] >= 1


def test_a_runtime_error_has_its_line_and_source(forja):
    error = forja.run("const a = {};\nreturn a.b.c;")["error"]
    assert (error["code"], error["name"], error["line"], error["source"]) == (
        "SCRIPT_ERROR",
        "TypeError",
        2,
        "return a.b.c;",
    )


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("throw 'plain text'", "plain text"),
        ("throw null", "null"),
        ("throw { code: 7, detail: 'x' }", '"detail":"x"'),
        ("await Promise.reject()", "undefined"),
        ("throw Object.create(null)", "{}"),
    ],
)
def test_whatever_is_thrown_is_readable(forja, code, text):
    run = forja.run(code)
    assert run["status"] == "failed" and run["error"]["code"] == "SCRIPT_ERROR"
    assert text in run["error"]["message"].replace(" ", "") or text in run["error"]["message"]
    assert "[object" not in run["error"]["message"]


def test_an_aggregate_error_names_what_is_inside(forja):
    run = forja.run("await Promise.any([tools.call('fx_fail',{kind:'throw'}), tools.call('fx_fail',{kind:'throw'})])")
    assert run["error"]["name"] == "AggregateError"
    assert len(run["error"]["errors"]) == 2


def test_control_characters_and_markup_travel_whole(forja):
    run = forja.run(
        r"""console.log('\ud83d', 'a\u0000b', '\u001b[31mred\u001b[0m\u001b[r\u001b[?1003l', '\u202Efdp.exe', '\u2028');
console.log('<img src=x onerror=alert(1)> </script>');
progress({ note: '\u001b]0;t\u0007<b>x</b>', completed: 1, total: 2 });
return { ['k\udc00']: 'v\u0000', html: '</textarea><svg onload=alert(1)>' };"""
    )
    assert run["status"] == "succeeded"
    text = run["output"]["text"]
    assert "\\ud83d" in text and "a\\u0000b" in text and "<img src=x onerror=alert(1)> </script>" in text
    assert run["value"]["html"] == "</textarea><svg onload=alert(1)>"
    assert run["progress"]["completed"] == 1


def test_a_bad_source_is_refused_quickly(forja):
    session = forja.session()
    cases = [
        ("   \n", 400, "INVALID_INPUT"),
        ("x=1\n" * 500_000, 413, "SOURCE_TOO_LARGE"),
        ("a\0b", 400, "INVALID_INPUT"),
    ]
    for code, status, name in cases:
        answer = forja.submit(code, session=session, wait=10)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, name)
    deep = forja.run("(" * 100_000, session=session)
    assert deep["error"]["code"] in ("SYNTAX_ERROR", "COMPILE_ERROR", "STACK_LIMIT")
    assert forja.value("/* " + "x" * 200_000 + " */ return 7", session=session) == 7
    number = forja.client.post(f"/api/sessions/{session}/runs", json={"tool": "js_run", "code": 7})
    assert (number.status_code, number.json()["error"]["field"]) == (400, "code")


def test_state_is_shared_and_never_half_written(forja):
    session = forja.session()
    runs = [forja.start_run("state.n = (state.n ?? 0) + 1; return state.n;", session=session) for _ in range(20)]
    ended = [forja.ended(run["id"]) for run in runs]
    good = [run for run in ended if run["status"] == "succeeded"]
    assert {run["error"]["code"] for run in ended if run["status"] == "failed"} <= {"STATE_CONFLICT"}
    assert forja.value("return state.n", session=session) == len(good) >= 1
    bad = forja.run("state.f = () => 1; state.d = new Date(0); state.self = state; return 1", session=session)
    assert bad["error"]["code"] == "STATE_NOT_SERIALIZABLE"
    big = forja.run("state.big = 'x'.repeat(600000); return 1", session=session)
    assert big["error"]["code"] == "STATE_LIMIT"
    forja.run("state.n = -1; throw new Error('no')", session=session)
    assert forja.value("return [state.n, 'f' in state, 'big' in state]", session=session) == [len(good), False, False]


def test_a_poisoned_realm_ends_with_its_run(forja):
    session = forja.session()
    run = forja.run(
        "Object.prototype.hacked = 1; Array.prototype.push = () => 99; JSON.stringify = () => '\"x\"';\n"
        "Promise.prototype.then = null;\n"
        'return await tools.call(\'fx_echo\', JSON.parse(\'{"__proto__":{"admin":true},"a":1}\'));',
        session=session,
    )
    assert run["status"] in ("succeeded", "failed")
    assert run.get("error", {}).get("code") != "INTERNAL"
    clean = forja.run("return [({}).hacked, [].push(1), ({}).admin, JSON.stringify({a:1})]", session=session)
    assert clean["value"] == [None, 1, None, '{"a":1}']


def test_fields_that_choose_the_backend_are_refused_by_name(forja):
    session = forja.session()
    extras = {
        "preload": "x", "env": {}, "image": "alpine", "runtime": "managed", "backend": "host",
        "isolation": "none", "mounts": [], "memoryMb": -1, "user": "root", "session": "other",
    }  # fmt: skip
    path = f"/api/sessions/{session}/runs"
    for name, value in extras.items():
        answer = forja.client.post(path, json={"tool": "js_run", "code": "return 1", name: value})
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, name)
    answer = forja.submit("return 1", session=session, timeoutMs=99_999_999)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "timeoutMs")
