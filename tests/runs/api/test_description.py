"""The OpenAPI description is held to what the API answers."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.db import connection

from runs.api.schemas import CallDetail, EventList, RunOut, RunPage, SessionOut, SessionPage
from runs.models import NestedCall
from sandboxes.errors import ScriptError
from tests.runs.api.ending import end_run
from tests.runs.api.test_callers import cookie_header, page_cookies
from tests.runs.factories import queued_run


@pytest.fixture
def run(room):
    run = queued_run(room, title="One", progress={"note": "half", "completed": 1, "total": 2}, calls_started=1)
    NestedCall.objects.create(
        run=run, seq=1, tool="read_file", status="failed", duration_ms=2.5, error={"code": "TOOL_ERROR"}
    )
    error = ScriptError("No.", line=1, column=2).as_dict()
    end_run(run, status="failed", error=error, error_code=error["code"], metrics={"durationMs": 3.0})
    return run


def unknown_to(schema, value):
    """Names in `value` that the schema does not describe, wherever they lie."""
    known = schema.model_validate(value).model_dump(exclude_unset=True)
    return {name for name in value if name not in known}


def test_the_replies_match_the_described_shapes(api, room, run):
    cases = [
        (RunOut, f"/api/runs/{run.id}"),
        (RunPage, "/api/runs"),
        (SessionOut, f"/api/sessions/{room.id}"),
        (SessionPage, "/api/sessions"),
        (CallDetail, f"/api/runs/{run.id}/calls/1"),
        (EventList, f"/api/runs/{run.id}/events"),
    ]
    for schema, path in cases:
        assert unknown_to(schema, api.get(path).json()) == set(), path


def test_it_describes_every_operation_with_its_errors(nobody):
    paths = nobody.get("/api/openapi.json").json()["paths"]
    assert set(paths) == {
        "/api/sessions",
        "/api/sessions/{session_id}",
        "/api/sessions/{session_id}/runs",
        "/api/runs",
        "/api/runs/cancel",
        "/api/runs/{run_id}",
        "/api/runs/{run_id}/cancel",
        "/api/runs/{run_id}/calls/{seq}",
        "/api/runs/{run_id}/events",
        "/api/runs/{run_id}/output",
        "/api/tokens",
        "/api/tokens/{token_id}",
        "/api/users",
        "/api/users/{user_id}",
        "/api/users/{user_id}/link",
        "/health",
    }
    health = paths.pop("/health")["get"]
    assert set(health["responses"]) == {"200", "503"} and health["security"] == []
    for path, operations in paths.items():
        for method, operation in operations.items():
            assert "401" in operation["responses"], (method, path)
            assert re.fullmatch(r"[A-Z].* .* .*[^.]", operation["summary"]), (method, path)
            assert "200" in operation["responses"] or "201" in operation["responses"] or "204" in operation["responses"]
    events = paths["/api/runs/{run_id}/events"]["get"]
    assert {parameter["name"] for parameter in events["parameters"]} == {"run_id", "after", "Last-Event-ID"}
    assert "204" in events["responses"]
    start = paths["/api/sessions/{session_id}/runs"]["post"]
    assert {parameter["name"] for parameter in start["parameters"]} == {"session_id", "wait", "Idempotency-Key"}
    assert "codePath" in start["requestBody"]["content"]["application/json"]["schema"]["properties"]


def test_the_docs_page_loads_nothing_from_elsewhere(nobody):
    page = nobody.get("/api/docs")
    assert page.status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text
    assert "script-src 'self';" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert '<html lang="en">' in page.text
    assert 'href="/"' in page.text
    assert "set-cookie" not in page.headers


def test_the_docs_page_of_somebody_signed_in_can_write(nobody, user):
    cookies = page_cookies(user)
    page = nobody.get("/api/docs", headers=cookie_header(cookies))
    (token,) = re.findall(r'data-csrf-token="(\w{64})"', page.text)
    cookies |= {settings.CSRF_COOKIE_NAME: page.cookies[settings.CSRF_COOKIE_NAME]}
    headers = cookie_header(cookies) | {"X-CSRFToken": token, "Origin": "http://localhost"}
    assert nobody.post("/api/sessions", {}, headers=headers).status_code == 201
    again = nobody.get("/api/docs", headers=cookie_header(cookies))
    assert again.cookies[settings.CSRF_COOKIE_NAME] == cookies[settings.CSRF_COOKIE_NAME]


def test_a_list_of_runs_reads_no_payloads_and_few_rows_at_a_time(api, room, django_assert_max_num_queries):
    from runs.api.runs import _summaries
    from runs.models import Run

    for _ in range(20):
        end_run(queued_run(room))
    with django_assert_max_num_queries(1, connection=connection):
        assert len(_summaries(list(Run.objects.light()))) == 20


def test_a_list_of_waiting_runs_reads_the_line_once(api, room, django_assert_max_num_queries):
    from runs.api.runs import _summaries
    from runs.models import Run

    for _ in range(20):
        queued_run(room)
    with django_assert_max_num_queries(5, connection=connection):
        places = [item["queue"]["position"] for item in _summaries(list(Run.objects.light().order_by("number")))]
    assert places == list(range(1, 21))
