"""Nested calls: found by name, checked, let through the gate, carried out, and told without the host's secrets."""

from __future__ import annotations

import json
import logging

import pytest

from runs.tools.gate import Permissions
from runs.tools.registry import NOT_CALLABLE, Registry, Tool, default_registry
from sandboxes.base import MAX_TOOL_RESULT_BYTES
from tests import fixture_tools


def tool(name, *, server=None, call=lambda arguments, context: arguments, read_only=True):
    return Tool(
        name=name,
        title=name,
        description="",
        input_schema={"type": "object"},
        server=server,
        read_only=read_only,
        call=call,
    )


def give(box, value):
    """Make a call whose tool gives this value."""
    box.registry = Registry([tool("give", call=lambda arguments, context: value)])
    return box.text("give", "{}")


# ── Names ───────────────────────────────────────────────────────────────────────────────────────


def test_the_default_registry_has_the_file_tools_and_what_the_settings_name():
    names = default_registry().names()
    assert names[:4] == ("list_files", "read_file", "search_text", "write_file")
    assert "fx_echo" in names


def test_two_tools_that_differ_in_one_sign_stay_two(box):
    assert box.call("get.weather", q=1) == {"tool": "get.weather", "args": {"q": 1}}
    assert box.call("get-weather", q=2) == {"tool": "get-weather", "args": {"q": 2}}
    box.permissions = Permissions(allow=("fx.*",), deny=("get.weather",))
    assert box.refused("get.weather").code == "PERMISSION_DENIED"
    assert box.call("get-weather")["tool"] == "get-weather"


@pytest.mark.parametrize("name", fixture_tools.ODD_NAMES)
def test_it_calls_tools_by_odd_names(box, name):
    assert box.call(name)["tool"] == name


def test_a_second_tool_of_the_same_name_is_never_a_replacement():
    registry = Registry([tool("a")])
    with pytest.raises(ValueError, match="two tools"):
        registry.register(tool("a"))


def test_a_bare_name_finds_the_only_server_that_has_it():
    registry = Registry([tool("a.search", server="a"), tool("b.read", server="b"), tool("own")])
    assert registry.get("search").name == "a.search"
    assert registry.get("a.search").name == "a.search"
    registry.register(tool("b.search", server="b"))
    with pytest.raises(Exception, match="Several servers") as caught:
        registry.get("search")
    assert caught.value.hint == "Did you mean `a.search` or `b.search`?"


def test_an_exact_name_goes_before_a_bare_one():
    registry = Registry([tool("a.search", server="a"), tool("search")])
    assert registry.get("search").name == "search"


def test_an_unknown_name_is_told_with_the_nearest(box):
    error = box.refused("read_files", path="x")
    assert (error.code, error.hint) == ("UNKNOWN_TOOL", "Did you mean `read_file`?")
    assert box.refused("x" * 100_000).message == f"There is no tool `{'x' * 99}…`."
    assert box.refused("a\0\ud83d").message == "There is no tool `a\\u0000\\ud83d`."
    assert not box.registry.is_read_only("nothing")
    assert box.registry.is_read_only("read_file")


@pytest.mark.parametrize("name", sorted(NOT_CALLABLE))
def test_a_script_cannot_call_what_runs_scripts(box, name):
    box.registry.register(tool(name))
    assert box.refused(name, code="return 1").code == "NOT_CALLABLE"
    assert name not in [info.name for info in box.registry.infos()]


# ── Arguments ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", "null", "{}"])
def test_no_arguments_are_an_empty_object(box, text):
    assert json.loads(box.text("fx_echo", text)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "1",
        '"x"',
        "{",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a":' * 600 + "1" + "}" * 600,
    ]
    + ["[" * 200_000],
    ids=lambda text: text[:12],
)
def test_arguments_that_are_no_plain_object_are_refused(box, text):
    with pytest.raises(Exception, match="arguments") as caught:
        box.text("fx_echo", text)
    assert caught.value.code == "INVALID_INPUT"


def test_arguments_may_be_nested_as_deep_as_the_limit(box):
    text = '{"a":' * 500 + "1" + "}" * 500
    assert box.text("fx_echo", text).count("{") == 500


def test_half_a_surrogate_pair_survives_the_way_there_and_back(box):
    assert json.loads(box.text("fx_echo", '{"k\\udc00": "v\\u0000\\ud83d"}')) == {"k\udc00": "v\0\ud83d"}
    box.text("fx_echo", '{"k\\udc00": 1}').encode()


def test_a_wrong_argument_is_named_and_never_reaches_the_tool(box):
    for arguments, field in [({"id": "7"}, "id"), ({}, "id"), ({"id": 1, "extra": 2}, "extra"), ({"id": 1.5}, "id")]:
        error = box.refused("fx_strict", **arguments)
        assert (error.code, error.field) == ("INVALID_INPUT", field)
    assert fixture_tools.counter("strict") == 0
    assert box.call("fx_strict", id=7) == {"id": 7, "unit": "m"}
    assert fixture_tools.counter("strict") == 1


# ── The gate ────────────────────────────────────────────────────────────────────────────────────


def test_nested_writes_need_an_approval_except_in_the_scratchpad(box):
    box.permissions = Permissions()
    assert box.refused("write_file", path="a.txt", text="x").code == "APPROVAL_REQUIRED"
    assert box.call("write_file", path="scratch:a.txt", text="x")["bytes"] == 1
    assert box.call("list_files")["entries"] == []
    assert box.refused("fx_echo").code == "APPROVAL_REQUIRED"


def test_read_only_denies_every_write(box):
    box.read_only = True
    for path in ["a.txt", "scratch:a.txt"]:
        assert box.refused("write_file", path=path, text="x").code == "PERMISSION_DENIED"
    assert box.paths() == []


def test_a_read_only_workspace_makes_its_runs_read_only(box):
    object.__setattr__(box.workspace, "read_only", True)
    assert box.refused("write_file", path="scratch:a.txt", text="x").code == "PERMISSION_DENIED"


# ── Results and failures ────────────────────────────────────────────────────────────────────────


def test_a_large_result_arrives_whole(box):
    text = box.call("fx_blob", bytes=3_000_000)["text"]
    assert (len(text), text[-5:]) == (3_000_000, "END!!")


def test_a_result_over_the_cap_is_refused_never_cut(box):
    room = MAX_TOOL_RESULT_BYTES - len('{"text": ""}')
    assert len(box.call("fx_blob", bytes=room)["text"]) == room
    assert box.refused("fx_blob", bytes=room + 1).code == "TOOL_RESULT_TOO_LARGE"


def test_the_cap_is_on_utf8_bytes(box):
    assert give(box, "é" * (5 * 1024 * 1024)).startswith('"éé')
    with pytest.raises(Exception, match="16 MiB"):
        give(box, "é" * (9 * 1024 * 1024))


def _circular():
    value: list = []
    value += [value, value]
    return value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), _circular(), {("a",): 1}])
def test_a_result_that_is_no_json_is_the_tools_fault(box, value):
    with pytest.raises(Exception, match="result") as caught:
        give(box, value)
    assert caught.value.code == "TOOL_PROTOCOL_ERROR"


def test_bytes_in_a_result_are_written_as_base64(box):
    assert json.loads(give(box, {"data": b"\xff"})) == {"data": {"$bytes": "/w=="}}


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("throw", "INTERNAL"),
        ("iserror", "TOOL_ERROR"),
        ("protocol", "TOOL_PROTOCOL_ERROR"),
        ("exit", "TOOL_UNAVAILABLE"),
    ],
)
def test_each_way_to_fail_has_its_code_and_the_next_call_works(box, kind, code):
    assert box.refused("fx_fail", kind=kind, message="disk gone").code == code
    assert box.call("fx_echo", ok=1) == {"ok": 1}


def test_a_failure_tells_no_host_path_and_no_secret_but_the_log_has_all(box, caplog):
    with caplog.at_level(logging.ERROR):
        error = box.refused("fx_secret_fail", id="x")
    assert error.message == "`fx_secret_fail` failed: cannot open <path> with token=<secret> (x)"
    assert "fx_secret_fail failed in run run-1" in caplog.text
    assert fixture_tools.SECRET_TEXT in caplog.text


def test_an_error_without_words_is_told_by_its_kind(box):
    def fail(arguments, context):
        raise MemoryError

    box.registry = Registry([tool("fail", call=fail)])
    assert box.refused("fail").message == "`fail` failed: MemoryError"
