"""Every path, method and socket, tried as nobody, as its owner, as somebody else, as an analyst and as an admin.

The rows are held to the URLs there are: a new path without a row fails.
"""

from __future__ import annotations

import asyncio

import httpx
import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, get_resolver

from forja_site.asgi import application, sockets
from runs import consumers, services
from runs.accounts import create_token, create_user
from runs.engines import Choice
from runs.models import ApiToken, NestedCall, User
from runs.sessions import create_session
from tests.runs.factories import queued_run

pytestmark = pytest.mark.django_db(transaction=True)

WHO = ("nobody", "other", "analyst", "admin", "owner")
YES, FORBIDDEN, NOT_FOUND, SIGN_IN = "yes", "forbidden", "not found", "sign in"


def rights(*, other, analyst, admin, owner=YES, nobody=SIGN_IN):
    return {"nobody": nobody, "other": other, "analyst": analyst, "admin": admin, "owner": owner}


ANYBODY = rights(nobody=YES, other=YES, analyst=YES, admin=YES)
SIGNED_IN = rights(other=YES, analyst=YES, admin=YES)
"""Shows or changes what is one's own."""
WRITERS = rights(other=YES, analyst=FORBIDDEN, admin=YES)
READERS = rights(other=NOT_FOUND, analyst=YES, admin=YES)
"""Its owner's, and those who read everything."""
OWNER = rights(other=NOT_FOUND, analyst=FORBIDDEN, admin=FORBIDDEN)
"""Its owner's to act on; who reads it is told that it is not theirs, to others it does not exist."""
OWN_TOKEN = rights(other=NOT_FOUND, analyst=NOT_FOUND, admin=YES)
OWN_ALONE = rights(other=NOT_FOUND, analyst=NOT_FOUND, admin=NOT_FOUND)
ADMIN = rights(other=FORBIDDEN, analyst=FORBIDDEN, admin=YES, owner=FORBIDDEN)

RUN = {"tool": "js_run", "code": "return 1"}

API = {
    "GET /health": (ANYBODY, None),
    "POST /api/sessions": (WRITERS, {}),
    "GET /api/sessions": (SIGNED_IN, None),
    "GET /api/sessions/{session_id}": (READERS, None),
    "DELETE /api/sessions/{session_id}": (OWNER, None),
    "POST /api/sessions/{session_id}/runs": (OWNER, RUN),
    "GET /api/runs": (SIGNED_IN, None),
    "POST /api/runs/cancel": (SIGNED_IN, {"ids": ["nope"]}),
    "GET /api/runs/{run_id}": (READERS, None),
    "POST /api/runs/{run_id}/cancel": (OWNER, None),
    "GET /api/runs/{run_id}/calls/{seq}": (READERS, None),
    "GET /api/runs/{run_id}/events": (READERS, None),
    "GET /api/runs/{run_id}/output": (READERS, None),
    "GET /api/tokens": (SIGNED_IN, None),
    "POST /api/tokens": (SIGNED_IN, {"name": "mine"}),
    "DELETE /api/tokens/{token_id}": (OWN_TOKEN, None),
    "GET /api/users": (ADMIN, None),
    "POST /api/users": (ADMIN, {"name": "new"}),
    "PATCH /api/users/{user_id}": (ADMIN, {"role": "analyst"}),
    "POST /api/users/{user_id}/link": (ADMIN, None),
}

PAGES = {
    "GET ": (SIGNED_IN, None),
    "POST ": (WRITERS, {"title": "x", "workspace": "default"}),
    "GET sign-in/": (ANYBODY, None),
    "POST sign-in/": (ANYBODY, {"token": ""}),
    "POST sign-out/": (ANYBODY, {}),
    "GET account/": (SIGNED_IN, None),
    "POST account/": (SIGNED_IN, {"name": "mine"}),
    "POST account/tokens/<str:token_id>/revoke/": (OWN_ALONE, {}),
    "POST account/sign-out-everywhere/": (SIGNED_IN, {}),
    "GET sessions/<str:session_id>/": (READERS, None),
    "POST sessions/<str:session_id>/runs/": (OWNER, {"code": "return 1"}),
    "GET sessions/<str:session_id>/live/": (READERS, {"told": '{"view": "session", "cards": {}}'}),
    "GET runs/<str:run_id>/": (READERS, None),
    "POST runs/<str:run_id>/cancel/": (OWNER, {}),
    "GET runs/<str:run_id>/raw/<str:part>/": (READERS, None),
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


# ── The world these rows are tried in ───────────────────────────────────────────────────────────


@pytest.fixture
def world(monkeypatch):
    choice = Choice(backend="quickjs", isolation="isolated", reason="a test", engine=None, controls=lambda limits: {})
    monkeypatch.setattr(services, "choose_engine", lambda config, tool: choice)
    people = {
        name: create_user(name=name, role=name if name in User.Role.values else "user")
        for name in WHO
        if name != "nobody"
    }
    session = create_session(user=people["owner"], title="Private matters")
    run = queued_run(session, code="return 'private words'", calls_started=1)
    NestedCall.objects.create(run=run, seq=1, tool="read_file", status="succeeded")
    tokens = {name: create_token(user=user, name="theirs") for name, user in people.items()}
    names = {
        "session_id": session.pk,
        "run_id": run.id,
        "seq": "1",
        "part": "code",
        "token_id": spare_token(people["owner"]),
        "user_id": str(people["other"].pk),
    }
    return people, tokens, names


def spare_token(user):
    """The id of a token made to be revoked."""
    create_token(user=user, name="spare")
    return ApiToken.objects.filter(user=user, name="spare").latest("created_at").pk


def order(allowed):
    """Those who may come last: their request may use up what the others are to be refused."""
    return sorted(WHO, key=lambda who: allowed[who] == YES)


def meaning(status, location=""):
    if status == 401 or (status == 302 and location.startswith("/sign-in/?next=")):
        return SIGN_IN
    return {403: FORBIDDEN, 404: NOT_FOUND}.get(status, YES if status < 500 else f"{status}")


# ── The API ─────────────────────────────────────────────────────────────────────────────────────


def test_every_operation_has_a_row(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    assert API.keys() == {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


async def ask(method, path, headers, body):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://localhost") as client:
        return await client.request(method, path, headers=headers, json=body)


@pytest.mark.parametrize("row", API)
def test_the_api_answers_each_caller_as_the_table_says(world, row):
    people, tokens, names = world
    method, template = row.split(" ")
    allowed, body = API[row]
    answers = {}
    with asyncio.Runner() as runner:
        for who in order(allowed):
            headers = {"Authorization": f"Bearer {tokens[who]}"} if who in tokens else {}
            path = template.format(**names | {"token_id": spare_token(people["owner"])})
            answer = runner.run(ask(method, path, headers, body))
            answers[who] = meaning(answer.status_code)
            assert answers[who] == YES or "private" not in answer.text
    assert answers == allowed


@pytest.mark.parametrize("row", [row for row in API if row != "GET /health"])
def test_nobody_is_told_to_sign_in_before_anything_else_is_looked_at(world, row):
    method, template = row.split(" ")
    path = template.format(**dict.fromkeys(world[2], "no-such-thing"))
    with asyncio.Runner() as runner:
        for body in (None, {"nonsense": 1}, ["x"]):
            answer = runner.run(ask(method, f"{path}?nonsense=1", {}, body))
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHENTICATED")


def test_no_other_method_does_anything(world):
    _, tokens, names = world
    headers = {"Authorization": f"Bearer {tokens['admin']}"}
    with asyncio.Runner() as runner:
        for path in {row.split(" ")[1] for row in API}:
            for method in METHODS:
                if f"{method} {path}" not in API:
                    answer = runner.run(ask(method, path.format(**names), headers, None))
                    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND"), (method, path)


# ── The pages ───────────────────────────────────────────────────────────────────────────────────


def page_patterns():
    included = next(
        each for each in get_resolver().url_patterns if not isinstance(each, URLPattern) and not each.pattern._route
    )
    return {str(pattern.pattern) for pattern in included.url_patterns}


def test_every_page_has_a_row():
    assert {row.split(" ", 1)[1] for row in PAGES} == page_patterns()


def address(template, names):
    for name, value in names.items():
        template = template.replace(f"<str:{name}>", value)
    assert "<" not in template
    return f"/{template}"


def browser_of(people, who):
    client = Client()
    if who in people:
        client.force_login(people[who])
    return client


@pytest.mark.parametrize("row", PAGES)
def test_the_pages_answer_each_browser_as_the_table_says(world, row):
    people, _, names = world
    method, template = row.split(" ", 1)
    allowed, data = PAGES[row]
    answers = {}
    for who in order(allowed):
        answer = browser_of(people, who).generic(
            method,
            address(template, names) + (f"?{httpx.QueryParams(data)}" if method == "GET" and data else ""),
            data=str(httpx.QueryParams(data or {})) if method == "POST" else "",
            content_type="application/x-www-form-urlencoded",
        )
        told = meaning(answer.status_code, answer.get("Location", ""))
        # Somebody signed out is led to the sign-in page; a form sent by them comes back to it too.
        if who == "nobody" and method == "POST" and answer.get("Location") == "/sign-in/" and allowed is not ANYBODY:
            told = SIGN_IN
        answers[who] = told if template != "sign-in/" else YES
        assert told == YES or "rivate" not in answer.content.decode()
    assert answers == allowed


@pytest.mark.parametrize("template", sorted({row.split(" ", 1)[1] for row in PAGES}))
def test_nobody_is_led_to_the_sign_in_whatever_is_asked(world, template):
    rows = [PAGES[f"{method} {template}"][0] for method in METHODS if f"{method} {template}" in PAGES]
    if ANYBODY in rows:
        return
    path = address(template, dict.fromkeys(world[2], "no-such-thing"))
    for method in METHODS:
        answer = Client().generic(method, f"{path}?told=nonsense&before=nonsense")
        led = answer.status_code == 302 and answer["Location"].startswith("/sign-in/")
        assert led if f"{method} {template}" in PAGES else answer.status_code == 405, (method, template)


@pytest.mark.parametrize("row", [row for row in PAGES if row.startswith("POST") and row != "POST sign-in/"])
def test_no_form_is_taken_without_its_csrf_token(world, row):
    people, _, names = world
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(people["owner"])
    answer = guarded.post(address(row.split(" ", 1)[1], names), PAGES[row][1])
    assert answer.status_code == 403


# ── The sockets ─────────────────────────────────────────────────────────────────────────────────

SOCKETS = {"ws/<str:language>/sessions/<str:session_id>/": READERS}


def test_every_socket_has_a_row():
    patterns = [str(route.pattern) for route in sockets.routes]
    assert patterns == [*SOCKETS, ""], "the last refuses every other address"


async def close_code(path, cookie):
    """The code a socket is closed with; None when it is served."""
    headers = [(b"host", b"testserver"), (b"origin", b"http://testserver"), (b"cookie", cookie.encode())]
    socket = WebsocketCommunicator(application, path, headers=headers)
    accepted, _ = await socket.connect(timeout=30)
    assert accepted
    await socket.send_to(text_data='{"view": "session", "cards": {}}')
    message = await socket.receive_output(timeout=30)
    if message["type"] == "websocket.close":
        return message["code"]
    await socket.disconnect()
    return None


async def test_the_socket_serves_each_page_as_the_table_says(world):
    people, _, names = world

    def cookie_of(who):
        client = browser_of(people, who)
        return (
            f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
            if who in people
            else ""
        )

    words = {None: YES, consumers.SIGNED_OUT: SIGN_IN, consumers.GONE: NOT_FOUND}
    path = f"/ws/en/sessions/{names['session_id']}/"
    answers = {who: words[await close_code(path, await database_sync_to_async(cookie_of)(who))] for who in WHO}
    assert answers == SOCKETS["ws/<str:language>/sessions/<str:session_id>/"]
