"""One error shape on every path, for our refusals and for the framework's."""

from __future__ import annotations

import json

import pytest

from runs.models import Run
from tests.runs.factories import queued_run

RUN = {"tool": "js_run", "code": "return 1"}


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/nothing", "/api/runs/", "/api/%00", "/api/runs/a%2Fb", "/health/x"]
)
def test_an_unknown_path_is_not_found_in_the_shape(api, path):
    assert api.refused("GET", path)[:2] == (404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_a_method_a_path_does_not_know_names_those_it_does(api, method):
    status, code, error = api.refused(method, "/api/runs")
    assert (status, code) == (404, "NOT_FOUND")
    assert "GET" in error["hint"]
    assert api.call(method, "/api/runs").headers["allow"] == "GET"


@pytest.mark.parametrize("run_id", ["x", "%00", "a b", "é", "'; drop table", "x" * 300])
def test_an_impossible_id_is_not_found(api, run_id):
    assert api.refused("GET", f"/api/runs/{run_id}")[:2] == (404, "NOT_FOUND")


def test_a_wrong_host_is_refused_in_the_shape(api):
    refused = api.refused("GET", "/api/runs", headers={"Host": "elsewhere.example"})
    assert refused[:2] == (400, "INVALID_INPUT")


def test_an_exception_is_internal_and_shows_no_trace(api, room, monkeypatch, caplog):
    from runs.api import runs

    monkeypatch.setattr(runs, "run_for", lambda *args, **options: 1 / 0)
    status, code, error = api.refused("GET", f"/api/runs/{queued_run(room).id}")
    assert (status, code) == (500, "INTERNAL")
    assert "ZeroDivision" not in json.dumps(error)
    assert "ZeroDivisionError" in caplog.text


def test_head_answers_as_get_without_a_body(api):
    reply = api.call("HEAD", "/api/runs")
    assert (reply.status_code, reply.content) == (200, b"")


def test_every_reply_keeps_browsers_from_running_or_keeping_it(api):
    headers = api.get("/api/runs").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[1]", "object"),
        (b'"code"', "object"),
        (b'{"tool":"js_run","code":"1"} x', "not JSON"),
        (b'{"code":"a","code":"b"}', "twice"),
        (b'{"args":{"a":1,"a":2}}', "twice"),
        (b'{"timeoutMs":NaN}', "NaN"),
        (b'{"timeoutMs":-Infinity}', "Infinity"),
        (b'{"timeoutMs":1e999}', "too large"),
        (b'{"timeoutMs":' + b"9" * 5000 + b"}", "too many digits"),
        (b'{"code":"\xff"}', "UTF-8"),
        (b'{"args":' + b"[" * 600 + b"]" * 600 + b"}", "nested"),
        (b'{"args":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
        (b"[" * 1_000_000, "nested"),
        (b'\xef\xbb\xbf{"tool":"js_run"}', "not JSON"),
    ],
)
def test_a_body_that_is_not_strict_json_is_refused_saying_why(api, room, raw, says):
    headers = {"Content-Type": "application/json"}
    status, code, error = api.refused("POST", f"/api/sessions/{room.id}/runs", content=raw, headers=headers)
    assert (status, code) == (400, "INVALID_INPUT")
    assert says in error["message"]
    assert Run.objects.count() == 0


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", ""]
)
def test_another_content_type_is_415(api, room, kind):
    headers = {"Content-Type": kind}
    refused = api.refused("POST", f"/api/sessions/{room.id}/runs", content=b"{}", headers=headers)
    assert refused[:2] == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    ("extra", "field"),
    [
        ({"preload": "x"}, "preload"),
        ({"env": {"PATH": "/x"}}, "env"),
        ({"image": "alpine"}, "image"),
        ({"runtime": "managed"}, "runtime"),
        ({"backend": "host"}, "backend"),
        ({"isolation": "none"}, "isolation"),
        ({"mounts": ["/:/host"]}, "mounts"),
        ({"memoryMb": -1}, "memoryMb"),
        ({"user": "root"}, "user"),
        ({"session": "someone-elses"}, "session"),
        ({"timeoutMs": 99_999_999}, "timeoutMs"),
        ({"timeoutMs": "5"}, "timeoutMs"),
        ({"timeoutMs": True}, "timeoutMs"),
        ({"timeoutMs": 0}, "timeoutMs"),
        ({"args": [1]}, "args"),
        ({"title": 1}, "title"),
        ({"tool": "sh"}, "tool"),
        ({"inputs": []}, "inputs"),
        ({"codePath": "a.js"}, "code"),
        ({"\ud800\x00odd": 1}, "\\ud800\\u0000odd"),
    ],
)
def test_an_unknown_or_wrong_field_is_refused_by_name(api, room, extra, field):
    body = json.dumps(RUN | extra).encode()
    headers = {"Content-Type": "application/json"}
    status, code, error = api.refused("POST", f"/api/sessions/{room.id}/runs", content=body, headers=headers)
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", field)
    assert Run.objects.count() == 0


def test_a_run_may_lower_its_time_limit_and_the_journal_says_so(api, room):
    run = api.post(f"/api/sessions/{room.id}/runs", RUN | {"timeoutMs": 1500}).json()
    assert run["limits"]["timeoutMs"] == 1500
    assert Run.objects.get(id=run["id"]).limits["timeoutMs"] == 1500


def test_the_largest_legal_request_fits_however_it_is_escaped(api, room):
    code = "//" + "\x01" * (1024 * 1024 - 2)
    args = {"a": "x" * (1024 * 1024 - 20)}
    reply = api.post(f"/api/sessions/{room.id}/runs", RUN | {"code": code, "args": args})
    assert reply.status_code == 202, reply.text[:300]


@pytest.mark.parametrize("field", ["code", "args"])
def test_code_or_arguments_over_a_mebibyte_are_413(api, room, field):
    big = "x" * (1024 * 1024 + 1)
    body = RUN | ({"code": big} if field == "code" else {"args": {"a": big}})
    status, code, error = api.refused("POST", f"/api/sessions/{room.id}/runs", json=body)
    assert (status, code, error["field"]) == (413, "SOURCE_TOO_LARGE", field)


def test_a_body_over_the_cap_is_413_also_without_a_token(nobody):
    refused = nobody.refused("POST", "/api/sessions", content=b" " * (9 * 1024 * 1024))
    assert refused[:2] == (413, "SOURCE_TOO_LARGE")


@pytest.mark.parametrize(
    "code",
    ["print(1)\x00print(2)", "x=1\n" * 100_000, "x" * 1_000_000, "(" * 100_000, "\ud800"],
    ids=["nul", "many-lines", "one-line", "parentheses", "surrogate"],
)
def test_an_impossible_source_is_accepted_or_refused_but_never_breaks_the_server(api, room, code):
    body = json.dumps({"tool": "js_run", "code": code}).encode()
    reply = api.call(
        "POST", f"/api/sessions/{room.id}/runs", content=body, headers={"Content-Type": "application/json"}
    )
    if reply.status_code != 202:
        assert reply.status_code == 400
        assert reply.json()["error"]["code"] in ("INVALID_INPUT", "SYNTAX_ERROR")


@pytest.mark.parametrize("code", [1, 1.5, True, None, [], {}])
def test_code_must_be_a_string(api, room, code):
    status, error_code, error = api.refused(
        "POST", f"/api/sessions/{room.id}/runs", json={"tool": "js_run", "code": code}
    )
    assert (status, error_code, error["field"]) == (400, "INVALID_INPUT", "code")


def test_a_query_parameter_given_twice_is_refused(api):
    status, code, error = api.refused("GET", "/api/runs?limit=1&limit=2")
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", "limit")


def test_cancel_takes_no_fields(api, room):
    status, code, error = api.refused("POST", f"/api/runs/{queued_run(room).id}/cancel", json={"force": True})
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", "force")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=x", "`limit` must be a whole number."),
        ("limit=1.5", "`limit` must be a whole number."),
        ("limit=0", "`limit` must be at least 1."),
        ("limit=999", "`limit` must be at most 200."),
        ("limit=" + "9" * 5000, "`limit` must be a whole number of fewer digits."),
    ],
)
def test_a_wrong_query_parameter_is_told_in_our_own_words(api, query, message):
    status, code, error = api.refused("GET", f"/api/runs?{query}")
    assert (status, code, error["field"], error["message"]) == (400, "INVALID_INPUT", "limit", message)


@pytest.mark.parametrize(
    ("wait", "message"),
    [
        ("soon", "`wait` must be a number."),
        ("nan", "`wait` must be a number."),
        ("301", "`wait` must be at most 300."),
        ("-1", "`wait` must be at least 0."),
    ],
)
def test_a_wrong_wait_is_told_in_our_own_words(api, room, wait, message):
    body = {"tool": "js_run", "code": "return 1"}
    _, _, error = api.refused("POST", f"/api/sessions/{room.id}/runs?wait={wait}", json=body)
    assert (error["field"], error["message"]) == ("wait", message)


def test_a_choice_outside_the_list_names_what_there_is(api, room):
    _, _, error = api.refused("GET", f"/api/runs/{queued_run(room).id}/output?stream=x")
    assert (error["field"], error["message"]) == ("stream", "`stream` must be 'stdout' or 'stderr'.")
