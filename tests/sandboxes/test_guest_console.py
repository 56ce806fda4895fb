"""What console.* prints, whatever it is given."""

# ruff: noqa: E501  (a script under test stays on the line it is written on)

from __future__ import annotations

import pytest

from tests.sandboxes.guest import run


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("'plain', 1, -0, 10n, true, null, undefined", "plain 1 -0 10n true null undefined"),
        ("{ a: 1, 'b c': 'x', d: [1, 'it\\'s'] }", "{ a: 1, 'b c': 'x', d: [ 1, \"it's\" ] }"),
        ("[1, , 3]", "[ 1, <empty>, 3 ]"),
        ("[], {}", "[] {}"),
        ("new Map([['a', { b: 1 }]]), new Set([1, 2])", "Map(1) { 'a' => { b: 1 } } Set(2) { 1, 2 }"),
        ("new Date(0), new Date(NaN), /x/g", "1970-01-01T00:00:00.000Z Invalid Date /x/g"),
        ("new Uint8Array(2), new ArrayBuffer(3)", "Uint8Array(2) [ 0, 0 ] ArrayBuffer { byteLength: 3 }"),
        (
            "Symbol('q'), () => 1, function f() {}, class A {}",
            "Symbol(q) [Function (anonymous)] [Function: f] [class A]",
        ),
        ("new (class Point { x = 1 })(), Object.create(null)", "Point { x: 1 } [Object: null prototype] {}"),
        ("Promise.resolve(1), new Number(4), new URL('http://a/')", "Promise { … } [Number: 4] URL { http://a/ }"),
        ("tools", "[tools: fx_echo, fx_fail, fx_stall]"),
        ("'%s is %d, %i %j %o %% %c', 'Bob', 42.5, 42.9, { a: 1 }, [1], 'css'", 'Bob is 42.5, 42 {"a":1} [ 1 ] % '),
        ("'100%', 'done'", "100% done"),
        ("'%s'", "%s"),
        ("{ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }", "{ a: { b: { c: { d: { e: { f: [Object] } } } } } }"),
        ("{ get x() { throw new Error('getter') } }", "{ x: [Getter threw: getter] }"),
        ("new Proxy({}, { ownKeys() { throw new Error('trap') } })", "[Threw: trap]"),
        ("{ [Symbol.toPrimitive]() { throw 1 }, toString() { throw 2 } }", "{ toString: [Function: toString] }"),
    ],
)
def test_it_prints_what_a_person_can_read(arguments, line):
    assert run(f"console.log({arguments})").stdout == line + "\n"


def test_circular_and_throwing_things_are_printed_before_the_value_is_refused():
    ran = run(
        "const a = { n: 1 }; a.self = a;\nconsole.log('see', a);\n"
        "console.log(new Proxy({}, { ownKeys() { throw new Error('trap') } }), { get x() { throw new Error('getter') } });\nreturn a;"
    )
    assert ran.code == "RESULT_NOT_SERIALIZABLE" and "$.self" in ran.error.message
    assert ran.stdout.splitlines() == ["see { n: 1, self: [Circular] }", "[Threw: trap] { x: [Getter threw: getter] }"]


def test_streams_are_told_apart():
    ran = run(
        "console.log('l'); console.info('i'); console.debug('d'); console.warn('w'); console.error('e'); console.assert(0, 'a')"
    )
    assert (ran.stdout, ran.stderr) == ("l\ni\nd\n", "w\ne\nAssertion failed: a\n")


def test_an_error_is_printed_with_its_place_and_its_cause():
    text = run("const inner = new Error('inner');\nconsole.error(new TypeError('bad', { cause: inner }))").stderr
    assert text.startswith("TypeError: bad\n    at script.js:2:")
    assert "[cause]: Error: inner\n    at script.js:1:" in text


def test_the_smaller_methods_do_what_users_expect():
    ran = run(
        "console.table([{ a: 1, b: 'x' }, { a: 2 }]); console.group('G'); console.log('in\\nside'); console.groupEnd();\n"
        "console.count(); console.count(); console.time('t'); console.timeEnd('t'); console.dir({ a: 1 }); console.log()"
    )
    assert ran.stdout.splitlines() == [
        "(index) | a | b",
        "--------|---|----",
        "0       | 1 | 'x'",
        "1       | 2 | ",
        "G",
        "  in",
        "  side",
        "default: 1",
        "default: 2",
        "t: 0ms",
        "{ a: 1 }",
        "",
    ]


def test_nul_and_lone_surrogates_are_made_visible_and_the_rest_stays():
    ran = run(
        "console.log('\\ud83d', 'a\\u0000b', '\\u001b[31mred\\u001b[0m\\u001b[r\\u001b[?1003l', '\\u202Efdp.exe', '\\u2028', '😀');\n"
        "console.log('<img src=x onerror=alert(1)> </script>');\n"
        "progress({ note: '\\u001b]0;t\\u0007<b>x</b>', completed: 1, total: 2 });\n"
        "return { ['k\\udc00']: 'v\\u0000', html: '</textarea><svg onload=alert(1)>' };"
    )
    assert ran.stdout == (
        "\\ud83d a\\u0000b \x1b[31mred\x1b[0m\x1b[r\x1b[?1003l \u202efdp.exe \u2028 😀\n<img src=x onerror=alert(1)> </script>\n"
    )
    assert ran.value == {"k\udc00": "v\0", "html": "</textarea><svg onload=alert(1)>"}
    assert ran.progress[0].note == "\x1b]0;t\x07<b>x</b>"
    assert ran.outcome.value_json.encode()


def test_a_long_line_arrives_whole():
    text = run("console.log('😀'.repeat(400000) + 'END!!')").stdout
    assert text == "😀" * 400_000 + "END!!\n"


def test_a_huge_object_is_cut():
    text = run("console.log(Array.from({ length: 1000 }, (_, i) => ({ i, text: 'x'.repeat(1000) })))").stdout
    assert "more items" in text and len(text) < 400_000
