"""Path names: what is refused, what is read, and that what is shown can be asked for again."""

from __future__ import annotations

import pytest

from runs.tools.paths import parse_path, show_name, show_path
from sandboxes.errors import InvalidInput

LEADING_OUTSIDE = [
    "../x.js",
    "a/../../x.js",
    "a/../x.js",
    "..",
    "/etc/hostname",
    "//etc/hostname",
    "..\\x.js",
    "a\\b",
    "..%2fx.js",
    "%2e%2e/x.js",
    "%2E%2E%2Fx.js",
    "a%5cb",
    "a%00b",
    "．．／x.js",
    "．．/x.js",
    "‥/x.js",
    "x.js\0.txt",
    "~/.ssh/id",
    "~",
    "C:\\x",
    "C:/x",
    "\\x2e\\x2e/x",
    "a\\x2f..\\x2fb",
    "a\\x00",
    "\udcc3.txt",
    "a" * 5000,
    "a" * 256,
    "/".join("a" * 65),
]


@pytest.mark.parametrize("path", LEADING_OUTSIDE, ids=lambda path: ascii(path)[:30])
def test_it_refuses_what_could_lead_outside_with_one_text(path):
    with pytest.raises(InvalidInput) as caught:
        parse_path(path)
    assert caught.value.message == "`path` must be a plain relative path that stays inside its folder."
    assert caught.value.field == "path"


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("", ()),
        (".", ()),
        ("./", ()),
        ("a/./b//c.js", (b"a", b"b", b"c.js")),
        ("out/my script.py", (b"out", b"my script.py")),
        ("café.js", ("café.js".encode(),)),
        ("100%.txt", (b"100%.txt",)),
        ("notes….md", ("notes….md".encode(),)),
        ("...", (b"...",)),
        ("~backup", (b"~backup",)),
        ("\\xC3.txt", (b"\xc3.txt",)),
        ("a:b", (b"a:b",)),
    ],
)
def test_it_reads_legal_names(path, parts):
    assert parse_path(path) == parts


@pytest.mark.parametrize(
    "name",
    [
        b"plain.txt",
        "é".encode(),
        b"\xc3.txt",
        b"\xff\xfe",
        b"back\\slash",
        b"\\xC3.txt",
        b"line\nbreak",
        b"..%2fx",
        "．．".encode(),
        b"~",
        b"C:",
        b"scratch:x",
        b"a<b>.md",
        "搜索".encode(),
        b"x" * 255,
    ],
)
def test_it_shows_each_name_so_that_it_reads_back_to_the_same_bytes(name):
    shown = show_name(name)
    assert parse_path(shown) == (name,)
    assert shown.isprintable()
    shown.encode()


def test_it_leaves_readable_names_as_they_are():
    assert show_path((b"out", "señal 1.md".encode())) == "out/señal 1.md"
    assert show_path((b"a.js",), place="scratch") == "scratch:a.js"
