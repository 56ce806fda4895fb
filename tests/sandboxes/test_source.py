"""What may be a script at all, and what is unwrapped on the way to the engine."""

from __future__ import annotations

import time

import pytest

from sandboxes.errors import InvalidInput, SourceTooLarge
from sandboxes.quickjs.source import prepare
from tests.sandboxes.guest import run


@pytest.mark.parametrize("code", ["", "   ", "\n\t\n", "```js\n\n```"])
def test_it_refuses_blank_code(code):
    with pytest.raises(InvalidInput, match="blank") as caught:
        prepare(code)
    assert caught.value.field == "code" and caught.value.hint


@pytest.mark.parametrize(
    ("code", "line", "column", "part"),
    [
        ("print(1)\0print(2)", 1, 9, "NUL"),
        ("a\nbc\0", 2, 3, "NUL"),
        ("\ud800", 1, 1, "U+D800"),
        ("const a = 1;\nconst b = '\udfff'", 2, 12, "U+DFFF"),
    ],
)
def test_it_refuses_impossible_characters_with_their_place(code, line, column, part):
    with pytest.raises(InvalidInput) as caught:
        prepare(code)
    error = caught.value.as_dict()
    assert (error["line"], error["column"]) == (line, column) and part in error["message"]


@pytest.mark.parametrize("code", ["x=1\n" * 500_000, "'" + "é" * 600_000 + "'", "\0" * 2_000_000])
def test_it_refuses_code_over_1_mib(code):
    with pytest.raises(SourceTooLarge) as caught:
        prepare(code)
    assert caught.value.details["limit"] == 1024 * 1024


def test_it_takes_only_text():
    with pytest.raises(InvalidInput):
        prepare(42)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "inner"),
    [
        ("```js\nreturn 1\n```", "\nreturn 1\n"),
        ("\n```javascript\nreturn 1\n```\n\n", "\n\nreturn 1\n\n\n"),
        ("~~~\nreturn 1\n~~~", "\nreturn 1\n"),
        ("````js\nreturn 1\n````", "\nreturn 1\n"),
        ("```js\nreturn 1", "\nreturn 1"),
        ("```ts\nreturn 1\n```  ", "\nreturn 1\n"),
        ("```\r\nreturn 1\r\n```", "\nreturn 1\r\n"),
    ],
)
def test_one_fence_around_the_whole_is_blanked(code, inner):
    source = prepare(code)
    assert source.code == inner and source.submitted == code
    assert source.code.count("\n") == code.count("\n")


@pytest.mark.parametrize("code", ["```js\nreturn 1\n```\ntext\n```js\nreturn 2\n```", "text\n```js\nreturn 1\n```"])
def test_more_than_one_fence_is_left_alone(code):
    assert prepare(code).code == code


@pytest.mark.parametrize(("label", "part"), [("python", "write it in JavaScript"), ("bash", "shell"), ("sql", "SQL")])
def test_a_fence_that_names_another_language_is_refused(label, part):
    with pytest.raises(InvalidInput) as caught:
        prepare(f"```{label}\nx\n```")
    assert part in caught.value.hint


@pytest.mark.parametrize(
    "code",
    [
        "function* g() { yield 1 }",
        "async function* g() {\n  yield { a: 1 };\n}",
        "export default function* () { yield 1 }",
    ],
)
def test_a_whole_that_is_a_generator_is_refused(code):
    with pytest.raises(InvalidInput, match="generator"):
        prepare(code)


@pytest.mark.parametrize(
    "code",
    [
        "function* g() { yield 1 }\nreturn [...g()]",
        "function* g() { yield 1 }\nfor (const x of g()) { console.log(x) }",
    ],
)
def test_a_generator_inside_a_script_is_fine(code):
    assert prepare(code).code == code


def test_what_is_removed_leaves_its_place_blank():
    assert prepare("#!/usr/bin/env node\nreturn 1").code == " " * 19 + "\nreturn 1"
    assert prepare("export default async () => 1").code == " " * 14 + " async () => 1"


def test_a_line_is_shown_as_sent_and_cut():
    source = prepare("```js\nreturn 1\r\n" + "x" * 1000 + "\n```")
    assert (
        source.line(1) == "```js" and source.line(2) == "return 1" and source.line(5) is None and source.line(0) is None
    )
    assert source.line(3) == "x" * 300 + "…"


@pytest.mark.parametrize(
    "code",
    [
        "(" * 100_000,
        "[" * 100_000,
        "x = '" + "a" * 1_000_000 + "'",
        "/*" + " " * 1_000_000,
        "```" * 300_000,
        " " * 1_000_000 + "x",
        "function* " * 90_000,
        "{" * 500_000,
        "async " * 150_000,
    ],
)
def test_odd_shapes_are_answered_quickly(code):
    run("return 1")
    began = time.monotonic()
    ran = run(code)
    assert time.monotonic() - began < 3
    assert ran.outcome.error is None or ran.code in (
        "SYNTAX_ERROR",
        "INVALID_INPUT",
        "STACK_LIMIT",
        "MEMORY_LIMIT",
        "SCRIPT_ERROR",
        "COMPILE_ERROR",
    )


@pytest.mark.parametrize(
    "code",
    [
        "(" * 100_000,
        "return " + "[1," * 30_000,
        "!" * 100_000,
        "async () => " + "(" * 100_000,
        "return `" + "${`" * 50_000,
    ],
    ids=lambda code: code[:12],
)
def test_code_nested_too_deeply_to_be_compiled_says_so(code):
    run("return 1")
    began = time.monotonic()
    error = run(code).error.as_dict()
    assert time.monotonic() - began < 3
    assert error["code"] == "COMPILE_ERROR" and "nested too deeply" in error["message"]
    assert "bracket" in error["hint"]


@pytest.mark.parametrize(
    "code", ["const f = n => f(n + 1) + 1; f(0)", "JSON.parse('['.repeat(200000))", "eval('('.repeat(1e5))"]
)
def test_a_stack_used_up_while_running_is_no_matter_of_compiling(code):
    assert run(code).code == "STACK_LIMIT"


def test_a_legal_long_script_runs():
    code = "\n".join(f"const v{n} = {n};" for n in range(10_000)) + "\nreturn v9999"
    assert len(code) > 200_000 - 20_000
    assert run(code).value == 9999
