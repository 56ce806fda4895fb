"""How a script's own failures are told: code, sentence, place, cause, one hint."""

# ruff: noqa: E501  (a script under test stays on the line it is written on)

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandboxes import errors
from tests.sandboxes.guest import run

ROOT = Path(__file__).resolve().parents[2]


def test_no_hint_sends_anybody_where_there_is_nothing():
    commands = {path.stem for path in (ROOT / "runs/management/commands").glob("[a-z]*.py")}
    hints = [cls.default_hint for cls in errors.all_errors().values()]
    assert {name for hint in hints for name in re.findall(r"manage\.py (\w+)", hint)} <= commands
    guests = [*(ROOT / "sandboxes/quickjs").glob("*.py"), *(ROOT / "sandboxes/guests/js").glob("*.js")]
    assert [path.name for path in guests if "python_run" in path.read_text(encoding="utf-8")] == []


def test_await_in_a_plain_function_says_what_it_needs():
    ran = run("function load() {\n  const r = await tools.call('fx_echo', { a: 1 });\n  return r;\n}\nreturn load();")
    assert (ran.code, ran.error.details["line"]) == ("SYNTAX_ERROR", 2)
    assert "async" in ran.error.hint
    assert run("const r = await tools.call('fx_echo',{a:1}); return r.a").value == 1


def test_typescript_is_named_with_the_way_out():
    ran = run(
        "interface Row { id: number }\nconst rows: Row[] = [{ id: 1 }];\nreturn rows.map((r: Row) => r.id) as number[];"
    )
    assert (ran.code, ran.error.details["line"]) == ("SYNTAX_ERROR", 1)
    assert ran.error.hint.endswith("lain JavaScript: remove type annotations.")


@pytest.mark.parametrize(
    "line",
    [
        "const rows: Row[] = []",
        "let n: number = 1",
        "const f = (a: string, b?: number): string => a",
        "return x as string",
        "type Id = string | number;",
        "enum Color { Red }",
        "const m = new Map<string, number>()",
        "const v = x!.y",
    ],
)
def test_every_common_annotation_is_recognised(line):
    assert "type annotations" in run(f"const x = {{ y: 1 }};\n{line}\nreturn 1").error.hint


def test_an_error_has_name_message_line_column_and_source():
    ran = run("const a = 1;\nconst b = 2;\nconst c = ;\nreturn a + b;")
    error = ran.error.as_dict()
    assert (error["code"], error["name"], error["line"], error["column"], error["source"]) == (
        "SYNTAX_ERROR",
        "SyntaxError",
        3,
        11,
        "const c = ;",
    )
    assert error["message"].startswith("SyntaxError: ")
    thrown = run("const a = {};\n\nfunction f() { return a.b.c }\nreturn f();").error.as_dict()
    assert (thrown["code"], thrown["name"], thrown["line"], thrown["source"]) == (
        "SCRIPT_ERROR",
        "TypeError",
        3,
        "function f() { return a.b.c }",
    )
    assert thrown["stack"].splitlines() == ["    at f (script.js:3:23)", "    at script.js:4:8"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("throw 'plain text'", "plain text"),
        ("throw null", "null"),
        ("throw { code: 7, detail: 'x' }", '{"code":7,"detail":"x"}'),
        ("await Promise.reject()", "undefined"),
        ("throw Object.create(null)", "{}"),
        ("throw 42n", "42"),
        ("throw Symbol('s')", "Symbol(s)"),
        ("throw new Error()", "Error"),
        ("throw ''", "string"),
    ],
)
def test_thrown_things_that_are_no_errors_are_readable(code, message):
    ran = run(code)
    assert (ran.code, ran.error.message) == ("SCRIPT_ERROR", message)


def test_an_aggregate_error_tells_its_inner_errors():
    ran = run("await Promise.any([tools.call('fx_fail',{message:'one'}), tools.call('fx_fail',{message:'two'})])")
    assert ran.code == "SCRIPT_ERROR" and ran.error.message.startswith("AggregateError")
    assert "2 inner errors" in ran.error.message and "fx_fail: TOOL_ERROR: one" in ran.error.message
    assert [one["code"] for one in ran.error.details["errors"]] == ["TOOL_ERROR", "TOOL_ERROR"]


def test_causes_are_told():
    ran = run("throw new Error('outer', { cause: new TypeError('inner', { cause: 'deep' }) })")
    cause = ran.error.details["cause"]
    assert (cause["name"], cause["message"], cause["cause"]["message"]) == ("TypeError", "inner", "deep")


def test_a_class_of_the_scripts_own_points_at_the_throw():
    ran = run("class Mine extends Error {\n  constructor(m) { super(m); this.name = 'Mine' }\n}\nthrow new Mine('m')")
    assert (ran.error.message, ran.error.details["line"]) == ("Mine: m", 4)


def test_the_place_is_right_after_an_await_and_inside_callbacks():
    ran = run("await tools.fx_echo({});\n[1].map(() => {\n  null.x;\n})")
    assert ran.error.details["line"] == 3


def test_endless_recursion_is_a_stack_limit_that_can_be_caught_once():
    ran = run(
        "const o = { get a() { return this.a } };\ntry { o.a } catch (e) { console.log(e.name) }\nconst f = n => 1 + f(n + 1); return f(0);"
    )
    assert ran.code == "STACK_LIMIT" and ran.error.details["line"] == 3
    assert ran.stdout == "RangeError\n"
    after = run("return 40 + 2")
    assert after.value == 42 and after.stdout == ""


@pytest.mark.parametrize(
    ("code", "error_code"),
    [
        ("const keep = []; for (;;) keep.push(new Array(10000).fill(7))", "MEMORY_LIMIT"),
        ("const keep = []; for (;;) keep.push({})", "MEMORY_LIMIT"),
        ("const keep = []; for (;;) keep.push('x' + keep.length)", "MEMORY_LIMIT"),
        ("let keep = {}; for (;;) keep = { keep }", "MEMORY_LIMIT"),
        ("const keep = []; for (;;) keep.push(new Promise(() => {}))", "MEMORY_LIMIT"),
        ("const go = async () => { const keep = []; for (;;) keep.push([]) }; go(); await 0; return 1", "MEMORY_LIMIT"),
        ("return new ArrayBuffer(2**31)", "SCRIPT_ERROR"),
        ("let s = 'x'; for (;;) s += s", "SCRIPT_ERROR"),
    ],
)
def test_running_out_of_memory_is_told(code, error_code):
    assert run(code).code == error_code
    assert run("return 40 + 2").value == 42


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("await new Promise(r => setTimeout(r, 20)); return 1", "timers"),
        ("return crypto.randomUUID().length", "crypto"),
        ("await fetch('https://example.com')", "tools"),
        ("require('fs')", "Node.js"),
        ("return process.env", "Node.js"),
        ("return new Intl.NumberFormat('de').format(1)", "Intl"),
        ("return Buffer.from('a')", "Uint8Array"),
        ("return window.location", "browser"),
        ("return performance.now()", "Date.now"),
        ("import fs from 'fs';\nreturn 1", "modules"),
        ("return await import('fs')", "modules"),
        ("export const a = 1", "export"),
        ("const a = 1; a = 2", "const"),
        ("return undefinedName", "never declared"),
        ("const r = {}; return r.list.length", "undefined"),
        ("return tools.list().foo()", "`tools.list().foo` is no function"),
        ("const r = { items: {} };\nreturn r.items.map(x => x)", "`r.items.map` is no function"),
        ("return (1)()", "is no function"),
        ("return await fx_echo({ a: 1 })", "tools.fx_echo("),
        ("return await tools.fx_echo({ a: 1 }).foo.bar", "(await tools"),
        ("const o = {}; for (const x of o.items) {}", "looped over"),
        ("for (const x of { a: 1 }) {}", "looped over"),
        ("return JSON.parse('<html>')", "not JSON"),
        ("if (true) {", "closed"),
        ("const s = 'abc", "not closed"),
        ("const a = 1; const a = 2", "declared twice"),
        ("x; let x = 1", "declaration"),
        ("return 1n + 1", "BigInt"),
    ],
)
def test_common_mistakes_get_one_hint_that_helps(code, part):
    ran = run(code)
    assert part in ran.error.hint, ran.error.as_dict()


def test_an_unclosed_brace_points_into_the_submitted_code():
    ran = run("const a = 1;\nif (a) {\n  return a;")
    assert ran.error.details["line"] == 3 and ran.error.details["source"] == "  return a;"


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("ls -la", "shell"),
        ("git status", "shell"),
        ("$ npm install left-pad", "shell"),
        ("curl https://example.com | jq .", "shell"),
        ("print('hi')", "Python"),
        ("import os\nprint(os.getcwd())", "Python"),
        ("def f(x):\n    return x", "Python"),
        ("for x in range(3):\n    print(x)", "Python"),
        ("SELECT 1", "SQL"),
        ("Hello world", "prose"),
        ("Here is the script you asked for:\n```js\nreturn 1\n```", "prose"),
        ("Please count the files in the workspace.", "prose"),
        ('{"a": 1, "b": [2]}', "data"),
        ("<div>hello</div>", "HTML"),
    ],
)
def test_what_is_not_javascript_in_kind_is_told_so(code, part):
    ran = run(code)
    assert ran.code in ("SYNTAX_ERROR", "INVALID_INPUT")
    assert part in ran.error.hint, ran.error.as_dict()


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("return totl.length", "never declared"),
        ("rows.length", "never declared"),
        ("process.env", "Node.js"),
        ("process", "Node.js"),
        ("window", "browser"),
        ("fx_echo({})", "tools.fx_echo("),
    ],
)
def test_a_plain_mistake_on_the_first_line_is_not_called_foreign(code, part):
    ran = run(code)
    assert ran.code == "SCRIPT_ERROR" and part in ran.error.hint


# ── A whole that is one function ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "code",
    [
        "async () => { return 7 }",
        "() => 7",
        "async function main() {\n  return 7;\n}",
        "function main() { return 7 };",
        "export default async function () { return 7 }",
        "export default () => 7",
        "// first a comment\n/* and another */ async (args) => { return args.n }",
        "async ({ n }) => n",
        "(async () => { return 7 })",
        "(async () => { return await 7 })();",
        "(function () { return 7 })()",
        "args => args.n",
        "```js\nasync () => { return 7 }\n```",
    ],
)
def test_a_whole_that_is_one_function_is_called(code):
    assert run(code, args={"n": 7}).value == 7


@pytest.mark.parametrize(
    "code",
    [
        "async function main() { return 7 }\nreturn await main()",
        "const f = () => 7;\nreturn f()",
        "(1, 2);\nreturn 7",
        "function f() {}\nreturn 7",
    ],
)
def test_a_script_that_only_begins_with_a_function_is_a_script(code):
    assert run(code).value == 7


def test_lines_stay_those_sent_inside_an_unwrapped_function():
    ran = run("```js\nexport default async function main() {\n  const a = 1;\n  null.x;\n}\n```")
    assert ran.error.details["line"] == 4 and ran.error.details["source"] == "  null.x;"


def test_code_that_closes_its_own_function_is_a_syntax_error():
    assert run("return 1 }); (function () {").code == "SYNTAX_ERROR"
