"""Nested calls as a script sees them, and the rules about calls nobody waits for."""

# ruff: noqa: E501  (a script under test stays on the line it is written on)

from __future__ import annotations

import time

import pytest

from sandboxes.base import Limits
from sandboxes.errors import UnknownTool
from tests.sandboxes.guest import TOOLS, FakeHost, run

# ── Forms and errors ────────────────────────────────────────────────────────────────────────────


def test_all_forms_of_a_call_reach_the_same_tool():
    tools = {"server.tool": lambda arguments: {"got": arguments}, "get-weather": lambda arguments: "w"}
    ran = run(
        "return [await tools.call('fx_echo', { a: 1 }), await tools.fx_echo({ a: 2 }), await tools['server.tool']({ b: 3 }),"
        " await tools.call('get-weather'), await tools.call('fx_echo')]",
        tools=tools,
    )
    assert ran.value == [{"a": 1}, {"a": 2}, {"got": {"b": 3}}, "w", {}]


@pytest.mark.parametrize(
    "name", ["get-weather", "get.weather", "fs/read", "a b", "2fast", "搜索工具", "then", "constructor", "__proto__"]
)
def test_odd_names_are_tools_like_any_other(name):
    assert run(
        f"return await tools.call({name!r}, {{ q: 1 }})", tools={name: lambda arguments: [name, arguments]}
    ).value == [name, {"q": 1}]


def test_tools_is_no_promise_and_lists_what_there_is():
    ran = run(
        "return [await tools === tools, typeof tools.then, tools.list().map(t => t.name), 'fx_echo' in tools, typeof tools.toString]"
    )
    assert ran.value == [True, "undefined", ["fx_echo", "fx_fail", "fx_stall"], True, "undefined"]


def test_a_rejection_is_an_error_that_begins_at_the_call():
    ran = run(
        "const go = () =>\n  tools.call('fx_fail', { message: 'disk gone' });\n"
        "try { await go() } catch (e) { return [e instanceof Error, e.name, e.code, e.message, e.hint, e.tool, e.stack.split('\\n').map(x => x.trim())] }"
    )
    assert ran.value == [
        True,
        "ToolError",
        "TOOL_ERROR",
        "disk gone",
        "Try something else.",
        "fx_fail",
        ["ToolError: disk gone", "at go (script.js:2:9)", "at script.js:3:13"],
    ]


def test_an_unknown_tool_names_the_nearest():
    ran = run("try { await tools.call('fx_ecko') } catch (e) { return [e.code, e.hint] }")
    assert ran.value[0] == "UNKNOWN_TOOL" and ran.value[1].count("Did you mean `fx_echo`?") == 1


def test_a_tool_that_the_host_knows_a_better_name_for_gets_one_suggestion():
    def refuse(arguments):
        raise UnknownTool("There is no tool `read_fil`.", hint="Did you mean `read_file`?")

    ran = run(
        "try { await tools.read_fil({}) } catch (e) { return e.hint }", tools={"read_file": dict, "read_fil": refuse}
    )
    assert ran.value == "Did you mean `read_file`?"


def test_arguments_beyond_sixteen_mebibytes_reject_and_nothing_is_sent():
    host = FakeHost(TOOLS)
    code = (
        "try { await tools.fx_echo({ a: 'x'.repeat(17e6) }); return 'sent' } catch (e) { return [e.code, e.message] }"
    )
    ran = run(code, host=host, limits=Limits(memory_bytes=128 * 1024 * 1024))
    assert ran.value[0] == "INVALID_INPUT" and "16 MiB" in ran.value[1]
    assert host.sent == []


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ("tools.call('fx_echo', { a: { b: Promise.resolve(1) } })", "args.a.b"),
        ("tools.call('fx_echo', 'README.md')", "one object, not string"),
        ("tools.fx_echo([1])", "one object, not array"),
        ("tools.call(5)", "must be a string"),
        ("tools.call('x'.repeat(201))", "200 characters"),
        ("(() => { const a = {}; a.a = a; return tools.fx_echo(a) })()", "args.a"),
    ],
)
def test_arguments_that_cannot_be_sent_reject_and_nothing_is_sent(call, part):
    host = FakeHost(TOOLS)
    ran = run(f"try {{ await {call}; return 'sent' }} catch (e) {{ return [e.code, e.message, e.hint] }}", host=host)
    assert ran.value[0] == "INVALID_INPUT" and part in ran.value[1] and ran.value[2]
    assert host.sent == []


def test_calls_run_together_and_their_results_keep_their_order():
    ran = run("return await Promise.all([1, 2, 3, 4, 5].map(n => tools.fx_echo({ n }).then(r => r.n)))")
    assert ran.value == [1, 2, 3, 4, 5]


def test_calls_beyond_the_limit_are_refused():
    ran = run(
        "const all = await Promise.allSettled(Array.from({ length: 60 }, (_, i) => tools.fx_echo({ i })));\n"
        "return [all.filter(x => x.status === 'fulfilled').length, [...new Set(all.filter(x => x.reason).map(x => x.reason.code))]]",
        limits=Limits(timeout_ms=20_000, max_tool_calls=50),
    )
    assert ran.value == [50, ["TOOL_LIMIT"]]
    assert len(ran.calls("refused")) == 10


def test_an_uncaught_failure_names_the_tool_its_code_and_the_line():
    ran = run("const a = 1;\nreturn await tools.fx_fail({ message: 'no such file' });")
    error = ran.error
    assert (error.code, error.message, error.hint) == (
        "SCRIPT_ERROR",
        "fx_fail: TOOL_ERROR: no such file",
        "Try something else.",
    )
    assert error.details["line"] == 2 and error.details["source"].startswith("return await")
    assert error.details["cause"] == {"tool": "fx_fail", "code": "TOOL_ERROR", "message": "no such file"}


def test_progress_arrives_and_ignores_what_is_no_number():
    ran = run(
        "progress({ note: 'half', completed: 1, total: 2 }); progress('note alone'); progress({ completed: NaN }); return 1"
    )
    assert [(p.note, p.completed, p.total) for p in ran.progress] == [
        ("half", 1, 2),
        ("note alone", None, None),
        (None, None, None),
    ]


# ── Calls nobody waits for ──────────────────────────────────────────────────────────────────────


def test_a_failing_call_that_nobody_awaits_is_no_success():
    ran = run("tools.call('fx_fail', { kind: 'throw', message: 'disk gone' });   // no await\nreturn 'SAVED';")
    assert ran.code in ("UNAWAITED_CALL", "UNHANDLED_REJECTION")
    assert "fx_fail" in ran.error.message and ran.error.details["line"] == 1 and "await" in ran.error.hint.lower()
    assert ran.calls("failed") == [1]
    assert ran.outcome.value_json == '"SAVED"'


def test_a_rejection_nobody_took_fails_the_run_and_names_the_call():
    ran = run(
        "const lost = tools.fx_fail({ message: 'boom' });\nfor (let i = 0; i < 40; i++) await tools.fx_echo({});\nreturn 1"
    )
    assert ran.code == "UNHANDLED_REJECTION"
    assert "fx_fail: TOOL_ERROR: boom" in ran.error.message and ran.error.details["line"] == 1


@pytest.mark.parametrize(
    "code",
    [
        "async function late() { await 0; await 0; throw new Error('late') } late(); return 1",
        "queueMicrotask(() => { throw new Error('late') }); return 1",
        "Promise.reject(new Error('late')); return 1",
        "await new Promise(async () => { throw new Error('late') })",
    ],
)
def test_any_rejection_nobody_took_fails_the_run(code):
    ran = run(code)
    assert ran.code == "UNHANDLED_REJECTION" and "late" in ran.error.message


@pytest.mark.parametrize(
    ("code", "value"),
    [
        (
            "const p = tools.call('fx_fail',{kind:'throw'}); await null; try { await p } catch { return 'handled' }",
            "handled",
        ),
        (
            "return (await Promise.allSettled([tools.fx_fail({}), tools.fx_echo({})])).map(x => x.status)",
            ["rejected", "fulfilled"],
        ),
        ("const p = Promise.reject(new Error('x')); await 0; p.catch(() => {}); return 1", 1),
        (
            "const p = tools.fx_fail({}); for (let i = 0; i < 40; i++) await tools.fx_echo({}); await p.catch(() => {}); return 1",
            1,
        ),
    ],
)
def test_a_rejection_taken_later_raises_no_alarm(code, value):
    assert run(code).value == value


@pytest.mark.parametrize(
    ("code", "losers"),
    [
        ("return await Promise.race([tools.fx_stall(), tools.fx_echo({})])", [1]),
        ("return await Promise.race([tools.fx_stall().then(x => x).finally(() => {}), tools.fx_echo({})])", [1]),
        (
            "const get = async (n) => await tools.call(n); return await Promise.race([get('fx_stall'), get('fx_echo')])",
            [1],
        ),
        (
            "const get = async (n) => { await null; return tools.call(n) };\nreturn await Promise.race([get('fx_stall'), get('fx_echo')])",
            [1],
        ),
        (
            "const get = async () => (await Promise.all([tools.fx_stall(), tools.fx_stall()]))[0];\nreturn await Promise.race([get(), tools.fx_echo({})])",
            [1, 2],
        ),
        ("return await Promise.any([tools.fx_stall(), tools.fx_fail({}), tools.fx_echo({})])", [1]),
        ("const all = Promise.allSettled([tools.fx_stall()]); return 1", [1]),
        (
            "const p = new Promise((yes, no) => tools.fx_stall().then(yes, no)); return await Promise.race([p, tools.fx_echo({})])",
            [1],
        ),
        ("return await Promise.race(new Set([tools.fx_stall(), tools.fx_echo({})]))", [1]),
    ],
)
def test_a_loser_of_a_race_is_stopped_and_no_failure(code, losers):
    ran = run(code)
    assert ran.outcome.error is None, ran.error.as_dict()
    assert ran.calls("cancelled") == losers


@pytest.mark.parametrize(
    "code",
    [
        "tools.fx_stall(); return await Promise.race([tools.fx_stall(), tools.fx_echo({})])",
        "async function save() { await tools.fx_stall() } save(); return await Promise.race([tools.fx_stall(), tools.fx_echo({})])",
        "async function save() { tools.fx_stall() } await save();\nconst get = async () => await tools.fx_stall(); return await Promise.race([get(), tools.fx_echo({})])",
        "const p = tools.fx_stall(); p.then(() => {}); return 1",
        "try { await Promise.all([tools.fx_stall(), tools.fx_fail({})]) } catch { return 'partly' }",
    ],
)
def test_a_call_in_flight_that_is_no_loser_fails_the_run(code):
    ran = run(code)
    assert ran.code == "UNAWAITED_CALL"
    assert ran.error.details["tool"] == "fx_stall" and ran.error.details["line"] == 1


def test_nothing_of_the_script_runs_after_the_end():
    began = time.monotonic()
    ran = run(
        "const again = async () => { for (;;) { try { await tools.fx_stall() } catch { console.log('again') } } };\n"
        "return await Promise.race([again(), tools.fx_echo({ a: 1 })])"
    )
    assert ran.value == {"a": 1} and ran.stdout == ""
    assert time.monotonic() - began < 5


def test_a_script_that_waits_for_nothing_is_a_deadlock():
    ran = run("await new Promise(() => {})")
    assert ran.code == "DEADLOCK" and "await" in ran.error.hint
    assert "will ever settle" in ran.error.message and "will ever settle" not in ran.error.hint


# ── A script that bends the language ────────────────────────────────────────────────────────────


def test_polluted_prototypes_reach_neither_bridge_nor_next_run():
    host = FakeHost(TOOLS)
    ran = run(
        "Object.prototype.hacked = 1; Array.prototype.push = () => 99; JSON.stringify = () => '\"x\"'; Promise.prototype.then = null;\n"
        'return await tools.call(\'fx_echo\', JSON.parse(\'{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"a":1}\'));',
        host=host,
    )
    assert ran.value == {"__proto__": {"admin": True}, "constructor": {"prototype": {"admin": True}}, "a": 1}
    assert host.sent == [("fx_echo", '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"a":1}')]
    after = run("return [({}).hacked ?? null, [].push(1), ({}).admin ?? null, JSON.stringify({a:1})]")
    assert after.value == [None, 1, None, '{"a":1}']


@pytest.mark.parametrize(
    "spoil",
    [
        "Map.prototype.get = Map.prototype.set = Map.prototype.delete = null",
        "Array.prototype[Symbol.iterator] = null; Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null; Reflect.apply = null",
        "Object.defineProperty(Array.prototype, '0', { set() { console.log('stolen') }, get() { return 'got' }, configurable: true })",
        "Object.defineProperty(Object.prototype, 'value', { set() { console.log('stolen') }, get() { return 'got' } }); Object.prototype.get = () => 1; Object.prototype.writable = false",
        "RegExp.prototype.exec = () => null; RegExp.prototype[Symbol.replace] = null; String.prototype.slice = String.prototype.indexOf = null",
        "Symbol.hasInstance; Object.defineProperty(Error, Symbol.hasInstance, { value: () => false }); globalThis.Error = globalThis.Promise = globalThis.JSON = null",
        "Error.prepareStackTrace = () => { console.log('stolen'); return 5 }; Error.stackTraceLimit = 0",
        "Promise.resolve = Promise.race = Promise.all = null; Object.defineProperty(Promise, Symbol.species, { get() { throw 2 } })",
        "Object.prototype.then = undefined; Number.isFinite = () => false; Array.isArray = () => false; Object.keys = () => []",
    ],
)
def test_the_bridge_keeps_its_own_references(spoil):
    ran = run(f"{spoil};\nconst r = await tools.fx_echo({{ a: [1, {{ b: 'c' }}] }}); console.log('x', [1]); return r")
    assert ran.value == {"a": [1, {"b": "c"}]}
    assert ran.stdout == "x [ 1 ]\n"


def test_a_planted_to_json_changes_the_scripts_value_and_nothing_else():
    ran = run("Object.prototype.toJSON = () => 'evil'; return [{ a: 1 }]")
    assert ran.value == "evil" and ran.outcome.error is None


@pytest.mark.parametrize(
    "code",
    [
        "throw new Proxy({}, { getPrototypeOf() { throw 1 }, get() { throw 2 }, ownKeys() { throw 3 } })",
        "const p = new Proxy(new Error('m'), { getPrototypeOf() { throw p }, get() { throw p } }); throw p",
        "throw { toJSON() { throw 1 }, get name() { throw 2 } }",
        "throw new Error('m', { cause: new Proxy({}, { getPrototypeOf() { throw 1 } }) })",
        "const e = new Error('m'); e.cause = e; e.errors = new Proxy([], { get() { throw 1 } }); throw e",
        "Object.defineProperty(Error.prototype, 'name', { get() { throw 9 } }); throw new Error('m')",
        "Promise.prototype.constructor = function () { throw 1 }; Promise.prototype.then = f => f('forged'); throw new Error('m')",
    ],
)
def test_whatever_is_thrown_is_a_script_error(code):
    ran = run(code)
    assert ran.code == "SCRIPT_ERROR" and ran.error.message


def test_a_script_cannot_forge_its_report():
    ran = run(
        'Promise.prototype.then = function (f) { f(\'{"ok":true,"value":"forged"}\') }; Promise.prototype.constructor = class extends Promise {};\n'
        "return 'true one'"
    )
    assert ran.value == "true one"


def test_three_megabytes_reach_the_script_whole():
    tools = {"fx_blob": lambda arguments: {"text": "x" * (arguments["bytes"] - 5) + "END!!"}}
    ran = run(
        "const r = await tools.call('fx_blob', { bytes: 3000000 }); return { len: r.text.length, tail: r.text.slice(-5) }",
        tools=tools,
    )
    assert ran.value == {"len": 3_000_000, "tail": "END!!"}


def test_an_error_that_fights_back_is_still_told():
    ran = run(
        "const e = new Error('m'); Object.defineProperty(e, 'message', { get() { throw 1 } }); e.toString = () => { throw 2 };\nthrow e"
    )
    assert ran.code == "SCRIPT_ERROR" and ran.error.details["line"] == 1
