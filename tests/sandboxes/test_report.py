"""The guest's last word is hostile until it has been read."""

from __future__ import annotations

import json

import pytest

from sandboxes.base import Limits
from sandboxes.quickjs.report import json_text, read_open_calls, read_report
from sandboxes.quickjs.source import prepare

SOURCE = prepare("const a = 1;\nreturn a.b.c;")
LIMITS = Limits()


def read(report: object):
    raw = report if isinstance(report, bytes) else json.dumps(report).encode()
    return read_report(raw, source=SOURCE, limits=LIMITS)


def test_a_success_gives_value_state_lossy_and_hints():
    outcome = read(
        {
            "ok": True,
            "value": {"a": [1, "ñ"]},
            "returned": True,
            "state": {"n": 1},
            "lossy": [{"path": "$.x", "kind": "NaN"}],
            "hints": ["h"],
        }
    )
    assert (outcome.value_json, outcome.state_json, outcome.hint, outcome.error) == (
        '{"a":[1,"ñ"]}',
        '{"n":1}',
        "h",
        None,
    )
    assert outcome.lossy == ({"path": "$.x", "kind": "NaN"},)


@pytest.mark.parametrize(
    "raw",
    [
        b"nonsense",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"ok": true, "value": NaN}',
        b'{"ok": true, "value": Infinity}',
        b"[" * 100_000,
        b'{"ok":true,"value":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    ],
)
def test_what_is_no_report_is_an_error_and_never_raises(raw):
    assert read(raw).error is not None


def test_an_empty_report_is_a_memory_limit():
    assert read(b"").error.code == "MEMORY_LIMIT"


@pytest.mark.parametrize(("peak", "code"), [(None, "SCRIPT_ERROR"), (1e6, "SCRIPT_ERROR"), (40e6, "MEMORY_LIMIT")])
def test_a_null_thrown_in_a_full_memory_is_a_memory_limit(peak, code):
    report = b'{"ok": false, "error": {"code": "SCRIPT_ERROR", "name": "null", "message": "null"}}'
    assert read_report(report, source=SOURCE, limits=LIMITS, peak_memory_bytes=peak).error.code == code


@pytest.mark.parametrize("code", ["CANCELLED", "TIMEOUT", "INTERNAL", "ENGINE_MISMATCH", "nonsense", 7, None])
def test_a_guest_cannot_choose_a_code_that_is_not_its_own(code):
    assert read({"ok": False, "error": {"code": code, "name": "Error", "message": "m"}}).error.code == "SCRIPT_ERROR"


@pytest.mark.parametrize(
    "error",
    [
        7,
        None,
        [],
        {"line": "x"},
        {"line": -1},
        {"line": 10**30, "column": True},
        {"name": {}, "message": []},
        {"cause": "x", "errors": "y"},
        {
            "errors": [1, None, {"errors": [{}]}],
            "cause": {"cause": {"cause": {"cause": {"cause": {"cause": {"cause": {}}}}}}},
        },
    ],
)
def test_an_error_of_any_shape_is_read(error):
    outcome = read({"ok": False, "error": error})
    assert outcome.error.code == "SCRIPT_ERROR" and isinstance(outcome.error.message, str)
    json.dumps(outcome.error.as_dict())


def test_texts_are_bounded_and_always_valid():
    told = {
        "code": "SCRIPT_ERROR",
        "name": "E" * 1000,
        "message": "\ud800\0" + "m" * 100_000,
        "stack": "s" * 100_000,
        "line": 2,
        "column": 3,
    }
    error = read({"ok": False, "error": told}).error.as_dict()
    assert error["message"].encode() and "\\ud800\\u0000" in error["message"] and len(error["message"]) < 10_000
    assert len(error["stack"]) <= 4000 and (error["line"], error["column"], error["source"]) == (2, 3, "return a.b.c;")


def test_a_value_too_large_keeps_nothing():
    outcome = read({"ok": True, "value": "x" * (9 * 1024 * 1024), "returned": True})
    assert (outcome.error.code, outcome.value_json) == ("RESULT_TOO_LARGE", None)


def test_open_calls_are_whole_numbers_or_nothing():
    calls = read_open_calls(b'{"inflight": [1, "2", null, 3.5, true, 4], "losers": {"a": 1}}')
    assert (calls.inflight, calls.losers) == ((1, 4), ())
    assert read_open_calls(b"[") == read_open_calls(b"[]")


def test_lone_surrogates_stay_escapes_and_other_text_stays_text():
    assert json_text({"ñ": "😀"}) == '{"ñ":"😀"}'
    assert json_text("ñ\ud800") == '"\\u00f1\\ud800"'


@pytest.mark.parametrize(
    ("report", "hint"),
    [
        ({"calls": 0}, "The script returned no value. End with `return …` to give a result."),
        ({"calls": 3}, "The script returned no value; 3 nested calls succeeded. End with `return …` to give a result."),
    ],
)
def test_nothing_returned_is_said(report, hint):
    assert read({"ok": True, "value": None, "returned": False, **report}).hint == hint
