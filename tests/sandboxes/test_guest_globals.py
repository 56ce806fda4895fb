"""The globals a script may count on, and what it is told about those that are not there."""

# ruff: noqa: E501  (a script under test stays on the line it is written on)

from __future__ import annotations

import pytest

from tests.sandboxes.guest import run


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("return structuredClone({a:1}).a", 1),
        ("return new TextEncoder().encode('ñ').length", 2),
        ("return atob('aGk=') + btoa('hi')", "hiaGk="),
        ("return new URL('https://a.b/c?d=1').searchParams.get('d')", "1"),
        ("await new Promise(r => queueMicrotask(r)); return 1", 1),
    ],
)
def test_helpers_work(code, value):
    assert run(code).value == value


def test_what_is_absent_has_no_type_and_no_trap():
    names = "setTimeout setInterval setImmediate fetch XMLHttpRequest WebSocket require process Intl Buffer window document performance crypto WebAssembly Atomics std os print"
    assert run(f"return '{names}'.split(' ').filter(n => typeof globalThis[n] !== 'undefined')").value == []


def test_math_random_follows_the_seed():
    code = "return [Math.random(), Math.random()]"
    first, again, other = run(code, seed=7).value, run(code, seed=7).value, run(code, seed=8).value
    assert first == again != other
    assert all(0 <= number < 1 for number in first + other)


def test_math_random_is_spread_evenly():
    counts = run(
        "const n = Array(10).fill(0); for (let i = 0; i < 20000; i++) n[Math.floor(Math.random() * 10)]++; return n"
    ).value
    assert sum(counts) == 20_000 and all(1800 < count < 2200 for count in counts)


def test_the_clock_stands_still_at_the_start():
    ran = run(
        "const a = Date.now(); for (let i = 0; i < 1e5; i++); return [a, Date.now() - a, new Date().toISOString()]",
        clock_ms=1_600_000_000_000,
    )
    assert ran.value == [1_600_000_000_000, 0, "2020-09-13T12:26:40.000Z"]


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("return (1234.5).toLocaleString('de-DE')", "Number.toLocaleString"),
        ("return new Date(0).toLocaleDateString('es', { timeZone: 'Europe/Madrid' })", "Date.toLocaleDateString"),
        ("return 'a'.localeCompare('b', 'es')", "String.localeCompare"),
    ],
)
def test_ignored_locale_arguments_are_named(code, part):
    assert part in run(code).outcome.hint


def test_no_locale_argument_no_hint():
    assert run("return ['a'.localeCompare('b'), (5).toLocaleString()]").outcome.hint is None


# ── structuredClone ─────────────────────────────────────────────────────────────────────────────


def test_structured_clone_keeps_types_and_links():
    ran = run(
        "const a = { d: new Date(5), m: new Map([[{ k: 1 }, new Set([1])]]), r: /x/gi, b: new Uint8Array([1, 2]), e: new RangeError('q'), n: [1, , 3] };\n"
        "a.self = a; a.same = a.b; const c = structuredClone(a);\n"
        "return [c !== a, c.self === c, c.same === c.b, c.d.getTime(), [...c.m.keys()][0].k, c.m instanceof Map, String(c.r), c.b[1], c.e instanceof RangeError, c.e.message, 1 in c.n]"
    )
    assert ran.value == [True, True, True, 5, 1, True, "/x/gi", 2, True, "q", False]


def test_structured_clone_refuses_functions_with_the_standards_error():
    assert run("try { structuredClone({ f() {} }) } catch (e) { return e.name }").value == "DataCloneError"


# ── Text ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("bytes_", "label", "text"),
    [
        ([0xC3, 0xB1, 0xF0, 0x9F, 0x98, 0x80], "utf-8", "ñ😀"),
        ([0xEF, 0xBB, 0xBF, 0x61], "utf-8", "a"),
        ([0x61, 0xFF, 0xE2, 0x82, 0x62], "utf-8", "a\ufffd\ufffdb"),
        ([0xED, 0xA0, 0x80], "utf-8", "\ufffd\ufffd\ufffd"),
        ([0xF1, 0x61, 0x00], "utf-16le", "\u61f1\ufffd"),
        ([0x3D, 0xD8, 0x00, 0xDE], "utf-16le", "😀"),
        ([0xE9, 0x80], "latin1", "é€"),
    ],
)
def test_text_decoder_reads(bytes_, label, text):
    assert run(f"return new TextDecoder({label!r}).decode(new Uint8Array({bytes_}))").value == text


def test_text_decoder_streams_and_refuses_when_fatal():
    ran = run(
        "const d = new TextDecoder(); const a = d.decode(new Uint8Array([0xf0, 0x9f]), { stream: true }) + d.decode(new Uint8Array([0x98, 0x80]));\n"
        "let bad; try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { bad = e.name }\n"
        "let label; try { new TextDecoder('x-none') } catch (e) { label = e.name }\n"
        "return [a, bad, label, new TextDecoder('utf8').encoding]"
    )
    assert ran.value == ["😀", "TypeError", "RangeError", "utf-8"]


def test_text_encoder_writes_into():
    ran = run(
        "const b = new Uint8Array(3); const r = new TextEncoder().encodeInto('añ😀', b); return [r.read, r.written, [...b], [...new TextEncoder().encode('\\ud800')]]"
    )
    assert ran.value == [2, 3, [97, 195, 177], [239, 191, 189]]


# ── URL ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "href"),
    [
        ("'https://a.b/c?d=1#x'", "https://a.b/c?d=1#x"),
        ("'HTTP://EXAMPLE.com:80/%7Efoo/?q=a b'", "http://example.com/%7Efoo/?q=a%20b"),
        ("'../x?y#z', 'http://me:pw@h.com:8080/a/b/c'", "http://me:pw@h.com:8080/a/x?y#z"),
        ("'//o/p', 'https://x'", "https://o/p"),
        ("'?q', 'http://h/p?old#f'", "http://h/p?q"),
        ("'#f', 'http://h/p?old'", "http://h/p?old#f"),
        ("'', 'http://h/a/b?c#d'", "http://h/a/b?c"),
        ("'g/./h/../i', 'http://h/a/b'", "http://h/a/g/i"),
        ("'http://h/a/%2e%2E/b'", "http://h/b"),
        ("'/../../x', 'http://h/a/b/'", "http://h/x"),
        ("'http://0x7f.1/'", "http://127.0.0.1/"),
        ("'http://[2001:db8:0:0:1:0:0:1]:3000/'", "http://[2001:db8::1:0:0:1]:3000/"),
        ("'mailto:x@y.z'", "mailto:x@y.z"),
        ("'file:///etc/./a'", "file:///etc/a"),
        ("'https://ex.org/ñ ü?ñ=\\'#é'", "https://ex.org/%C3%B1%20%C3%BC?%C3%B1=%27#%C3%A9"),
        ("'  https://a.b\\\\c\\n/d  '", "https://a.b/c/d"),
        ("'foo://h:80/p/../q'", "foo://h:80/q"),
        ("'data:text/plain,a b'", "data:text/plain,a b"),
    ],
)
def test_urls_resolve_as_the_standard_says(arguments, href):
    assert run(f"return new URL({arguments}).href").value == href


@pytest.mark.parametrize(
    "text",
    [
        "nope",
        "http://",
        "http://a b/",
        "http://h:99999/",
        "http://1.2.3.4.5/",
        "http://[1::2::3]/",
        "//x",
        "http://256.1.1.1/",
    ],
)
def test_urls_that_are_none_throw(text):
    assert run(
        f"try {{ new URL({text!r}) }} catch (e) {{ return [e.name, URL.canParse({text!r}), URL.parse({text!r})] }}"
    ).value == ["TypeError", False, None]


def test_the_parts_of_a_url_can_be_read_and_set():
    ran = run(
        "const u = new URL('https://me:pw@h.com:8080/p/q?a=1&b=2&a=3#f'); const parts = [u.origin, u.host, u.hostname, u.port, u.username, u.password, u.pathname, u.search, u.hash];\n"
        "u.searchParams.append('c', 'ñ ü'); u.searchParams.delete('b'); u.hash = ''; u.port = '443'; u.pathname = 'x y'; u.username = ''; u.password = '';\n"
        "return [parts, u.href, JSON.stringify({ u })]"
    )
    assert ran.value == [
        ["https://h.com:8080", "h.com:8080", "h.com", "8080", "me", "pw", "/p/q", "?a=1&b=2&a=3", "#f"],
        "https://h.com/x%20y?a=1&a=3&c=%C3%B1+%C3%BC",
        '{"u":"https://h.com/x%20y?a=1&a=3&c=%C3%B1+%C3%BC"}',
    ]


def test_search_params_behave_as_a_list_of_pairs():
    ran = run(
        "const p = new URLSearchParams('?a=1&b=2&a=3&=x&c'); p.set('b', 'z'); p.sort();\n"
        "const q = new URLSearchParams({ k: 'é&=' }); const r = new URLSearchParams([['x', 1]]);\n"
        "return [[...p], p.getAll('a'), p.has('c'), p.has('a', '3'), p.get('none'), String(q), String(r), p.size, new URL('http://h/?x=%zz+1').searchParams.get('x')]"
    )
    assert ran.value == [
        [["", "x"], ["a", "1"], ["a", "3"], ["b", "z"], ["c", ""]],
        ["1", "3"],
        True,
        True,
        None,
        "k=%C3%A9%26%3D",
        "x=1",
        5,
        "%zz 1",
    ]
