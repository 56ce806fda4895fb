"""Values on their way out of a script: the one codec, and what it refuses."""

from __future__ import annotations

import pytest

from sandboxes.base import MIB, Limits
from tests.sandboxes.guest import run


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("return 1 + 1", 2),
        ("return 123456789012345678901234567890n", "123456789012345678901234567890"),
        ("return new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("return new Set([1, 'a'])", [1, "a"]),
        ("return new Map([['a', 1], ['__proto__', 2]])", {"a": 1, "__proto__": 2}),
        ("return new Map([[1, 'x'], ['a', new Map()]])", [[1, "x"], ["a", {}]]),
        ("return new Uint8Array([1, 2, 3])", {"$bytes": "AQID"}),
        ("return new Uint16Array([255, 254]).subarray(1)", {"$bytes": "/gA="}),
        ("return new Uint8Array([255, 254]).buffer", {"$bytes": "//4="}),
        ("return new TypeError('m', { cause: 1 })", {"name": "TypeError", "message": "m", "cause": 1}),
        ("return { a: undefined, b: 1 }", {"b": 1}),
        ("return { toJSON() { return { z: 1n } } }", {"z": "1"}),
        ("return [Object(1), Object('s'), Object(true)]", [1, "s", True]),
        ("return { ['k\\udc00']: 'v\\u0000' }", {"k\udc00": "v\0"}),
        ("return new URL('https://a.b/c')", "https://a.b/c"),
        ("return { u: new URL('https://a.b/?q=1').searchParams }", {"u": "q=1"}),
        ("const u = new URL('https://a.b/'); delete URL.prototype.toJSON; return u", "https://a.b/"),
        ("URLSearchParams.prototype.toString = () => 'no'; return new URLSearchParams({ a: 'ñ' })", "a=%C3%B1"),
        ("class E {} class O extends E {} return [{}, new E(), new O(), Object.create(null)]", [{}, {}, {}, {}]),
        ("return (function () { return arguments })(1)", {"0": 1}),
        ("class P { constructor() { this.x = 1 } get y() { return 2 } } return new P()", {"x": 1}),
        ("return -0", 0),
        ("return 1e21", 1e21),
    ],
)
def test_it_gives_values_as_strict_json(code, value):
    assert run(code).value == value


@pytest.mark.parametrize(
    ("code", "value", "rows"),
    [
        ("return [NaN, -Infinity]", [None, None], [("$[0]", "NaN"), ("$[1]", "-Infinity")]),
        ("return [undefined]", [None], [("$[0]", "undefined")]),
        ("return { f() {}, 's t': Symbol() }", {"f": None, "s t": None}, [("$.f", "function"), ('$["s t"]', "symbol")]),
        ("return { d: new Date(NaN) }", {"d": None}, [("$.d", "invalid date")]),
        ("return new Map().values()", None, [("$", "iterator")]),
        ("return { w: new WeakSet() }", {"w": None}, [("$.w", "WeakSet")]),
        ("const m = new WeakMap(); m.own = 1; return { m }", {"m": None}, [("$.m", "WeakMap")]),
        (
            "return [new WeakRef({}), new FinalizationRegistry(() => 1)]",
            [None] * 2,
            [("$[0]", "WeakRef"), ("$[1]", "FinalizationRegistry")],
        ),
        (
            "return [new TextEncoder(), new TextDecoder()]",
            [None] * 2,
            [("$[0]", "TextEncoder"), ("$[1]", "TextDecoder")],
        ),
        (
            "return [(function* () {})(), (async function* () {})()]",
            [None] * 2,
            [("$[0]", "iterator"), ("$[1]", "iterator")],
        ),
        ("return { p: new Proxy(() => 1, {}) }", {"p": None}, [("$.p", "function")]),
        ("return [Math, JSON, Object(Symbol())]", [None] * 3, [("$[0]", "Math"), ("$[1]", "JSON"), ("$[2]", "Symbol")]),
    ],
)
def test_it_names_what_was_lost(code, value, rows):
    ran = run(code)
    assert ran.value == value
    assert [(row["path"], row["kind"]) for row in ran.outcome.lossy] == rows


def test_it_names_what_arguments_lost():
    ran = run("return await tools.fx_echo({ n: NaN })")
    assert ran.value == {"n": None}
    assert ran.outcome.lossy == ({"path": "fx_echo.args.n", "kind": "NaN"},)


def test_it_bounds_the_rows_of_what_was_lost():
    assert len(run("return new Array(1000).fill(undefined)").outcome.lossy) == 50


@pytest.mark.parametrize(
    ("code", "error_code", "path"),
    [
        ("const a = { n: 1 }; a.self = a; return a", "RESULT_NOT_SERIALIZABLE", "$.self"),
        ("const a = []; a.push({ b: [a] }); return a", "RESULT_NOT_SERIALIZABLE", "$[0].b[0]"),
        ("return { p: Promise.resolve(1) }", "RESULT_NOT_SERIALIZABLE", "$.p"),
        ("return { get x() { throw new Error('no') } }", "RESULT_NOT_SERIALIZABLE", "$.x"),
        ("return [new Proxy({}, { ownKeys() { throw 1 } })]", "RESULT_NOT_SERIALIZABLE", "$[0]"),
        ("return { a: 'x'.repeat(9e6) }", "RESULT_TOO_LARGE", "$.a"),
        ("return new Array(4e9)", "RESULT_TOO_LARGE", "$["),
    ],
)
def test_it_refuses_a_value_with_its_path(code, error_code, path):
    ran = run(code)
    assert ran.code == error_code
    assert path in ran.error.message
    assert ran.error.hint


def test_it_says_to_await_a_promise_inside_the_value():
    assert "await it" in run("return { r: tools.fx_echo({}) }").error.hint.lower()


def test_it_takes_500_levels_and_refuses_the_next():
    nest = "let o = []; for (let i = 1; i < {}; i++) o = [o]; return o"
    assert run(nest.replace("{}", "500")).outcome.error is None
    deeper = run(nest.replace("{}", "501"))
    assert deeper.code == "RESULT_NOT_SERIALIZABLE" and "500" in deeper.error.message


def test_a_value_that_is_larger_in_utf8_than_allowed_is_refused():
    ran = run("return 'ñ'.repeat(5e6)", limits=Limits(timeout_ms=20_000, memory_bytes=64 * MIB))
    assert ran.code == "RESULT_TOO_LARGE" and ran.outcome.value_json is None


def test_a_result_that_leaves_no_memory_for_its_report_is_a_memory_limit():
    assert run("return 'ñ'.repeat(5e6)", limits=Limits(timeout_ms=20_000, memory_bytes=32 * MIB)).code == "MEMORY_LIMIT"


def test_a_script_that_returns_nothing_says_so_and_counts_its_calls():
    ran = run("const r = await tools.call('fx_echo', { total: 1234 });\nr.total * 2;")
    assert ran.value is None
    assert "returned no value" in ran.outcome.hint and "1 nested call succeeded" in ran.outcome.hint
    assert "return" in ran.outcome.hint


def test_a_returned_null_needs_no_hint():
    assert run("return null").outcome.hint is None


# ── state and args ──────────────────────────────────────────────────────────────────────────────


def test_state_comes_in_and_goes_out():
    ran = run(
        "state.n = (state.n ?? 0) + 1; state.d = new Date(0); delete state.gone; return state.n",
        state={"n": 4, "gone": 1},
    )
    assert ran.value == 5
    assert ran.state == {"n": 5, "d": "1970-01-01T00:00:00.000Z"}


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ("state.n = 1; state.f = () => 1; state.d = new Date(0); state.self = state; return 1", "state.f"),
        ("state.self = state; return 1", "state.self"),
        ("state.a = { b: [Symbol()] }; return 1", "state.a.b[0]"),
        ("state.p = tools.fx_echo({}); await 0; return 1", "state.p"),
        ("state.w = { deep: new WeakMap() }; return 1", "state.w.deep"),
        ("state.m = Math; return 1", "state.m"),
    ],
)
def test_state_that_cannot_be_kept_names_the_key(code, key):
    ran = run(code)
    assert ran.code == "STATE_NOT_SERIALIZABLE"
    assert key in ran.error.message
    assert ran.outcome.state_json is None


def test_state_over_its_limit_is_refused_whole():
    ran = run("state.big = 'x'.repeat(600000); return 1", state={"n": 1})
    assert ran.code == "STATE_LIMIT"
    assert ran.error.details["limit"] == 512 * 1024
    assert ran.outcome.state_json is None


def test_a_failed_run_gives_no_state():
    assert run("state.n = 1; throw new Error('late')").outcome.state_json is None


def test_state_that_is_off_is_absent_with_a_hint():
    ran = run("return state.n", state_is_off=True)
    assert ran.code == "SCRIPT_ERROR" and "switched off" in ran.error.hint
    assert run("return typeof state", state_is_off=True).value == "undefined"


def test_args_are_ordinary_data_and_the_names_are_not_replaceable_by_accident():
    assert run("args = 5; tools = 6; state = 7; console = 8; progress = 9; return args.a", args={"a": [1]}).value == [1]
    assert run("const args = 1, state = 2; return args + state").value == 3
