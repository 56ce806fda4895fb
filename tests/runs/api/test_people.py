"""Users and tokens over HTTP, and how soon a revocation holds."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from runs import people
from runs.accounts import create_token, create_user, sha256_hex
from runs.api.database import reading, writing
from runs.models import ApiToken, Run, SignInLink, User
from tests.runs.api.conftest import Api, token_headers
from tests.runs.api.ending import start_run
from tests.runs.factories import queued_run

CODE = {"tool": "js_run", "code": "return 1"}
SOON_S = 30


async def until(condition):
    async with asyncio.timeout(SOON_S):
        while not await reading(condition):
            await asyncio.sleep(0.01)


@pytest.fixture
def boss(transactional_db):
    return create_user(name="boss", role=User.Role.ADMIN)


@pytest.fixture
def admin(runner, boss):
    return Api(runner, token_headers(boss))


# ── Tokens ──────────────────────────────────────────────────────────────────────────────────────


def test_a_token_is_shown_once_works_and_is_kept_as_a_hash(api, runner, user):
    made = api.post("/api/tokens", {"name": "laptop"})
    assert made.status_code == 201
    token = made.json()["token"]
    assert made.json()["expiresAt"] is None
    assert Api(runner, {"Authorization": f"Bearer {token}"}).get("/api/sessions").status_code == 200
    listed = api.get("/api/tokens").json()["items"]
    assert [item["name"] for item in listed] == ["laptop", "test"]
    assert "token" not in listed[0] and token not in api.get("/api/tokens").text
    assert ApiToken.objects.get(pk=made.json()["id"]).token_sha256 == sha256_hex(token)


def test_a_token_ends_when_its_days_are_over(api, runner):
    made = api.post("/api/tokens", {"name": "short", "days": 2}).json()
    ends = datetime.fromisoformat(made["expiresAt"])
    assert abs(ends - datetime.now(UTC) - timedelta(days=2)) < timedelta(minutes=5)
    ApiToken.objects.filter(pk=made["id"]).update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    late = Api(runner, {"Authorization": f"Bearer {made['token']}"})
    assert late.refused("GET", "/api/sessions")[:2] == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": 5}, "name"),
        ({"name": "x", "days": 0}, "days"),
        ({"name": "x", "days": 36_501}, "days"),
        ({"name": "x", "days": 1.5}, "days"),
        ({"name": "x", "days": True}, "days"),
        ({"name": "x", "days": "1"}, "days"),
        ({"name": "x", "role": "admin"}, "role"),
    ],
)
def test_a_token_that_cannot_be_made_names_the_field(api, body, field):
    status, code, error = api.refused("POST", "/api/tokens", json=body)
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", field)


def test_there_is_a_bound_on_tokens(api, monkeypatch):
    monkeypatch.setattr(people, "MAX_TOKENS", 2)
    first = api.post("/api/tokens", {"name": "second"}).json()
    assert api.refused("POST", "/api/tokens", json={"name": "third"})[:2] == (409, "CONFLICT")
    assert api.call("DELETE", f"/api/tokens/{first['id']}").status_code == 204
    assert api.post("/api/tokens", {"name": "third"}).status_code == 201


def test_a_revoked_token_ends_at_once_and_is_not_found_again(api, other):
    made = api.post("/api/tokens", {"name": "lost"}).json()
    assert other.refused("DELETE", f"/api/tokens/{made['id']}")[:2] == (404, "NOT_FOUND")
    assert api.call("DELETE", f"/api/tokens/{made['id']}").status_code == 204
    assert api.refused("DELETE", f"/api/tokens/{made['id']}")[:2] == (404, "NOT_FOUND")
    lost = {"Authorization": f"Bearer {made['token']}"}
    assert api.call("GET", "/api/sessions", headers=lost).status_code == 401


def test_an_admin_revokes_anybodys_token(admin, user):
    create_token(user=user, name="leaked")
    token = ApiToken.objects.get(name="leaked")
    assert admin.call("DELETE", f"/api/tokens/{token.pk}").status_code == 204


# ── Users ───────────────────────────────────────────────────────────────────────────────────────


def test_an_admin_makes_a_user_whose_link_signs_in_once(admin):
    made = admin.post("/api/users", {"name": "Zoë", "role": "analyst"})
    assert made.status_code == 201
    link = made.json()["signInLink"]
    path = re.fullmatch(r"http://localhost(/sign-in/\?token=\S+)", link)[1]
    assert Client().get(path).status_code == 302
    assert Client().get(path).status_code == 401
    assert [(item["name"], item["role"]) for item in admin.get("/api/users").json()["items"]] == [
        ("Zoë", "analyst"),
        ("boss", "admin"),
    ]


def test_a_new_link_voids_the_one_before(admin, user):
    first, second = (admin.post(f"/api/users/{user.pk}/link").json()["signInLink"] for _ in range(2))
    assert Client().get(first.removeprefix("http://localhost")).status_code == 401
    assert Client().get(second.removeprefix("http://localhost")).status_code == 302


def test_a_link_has_an_end(admin, user):
    link = admin.post(f"/api/users/{user.pk}/link").json()
    ends = datetime.fromisoformat(link["expiresAt"])
    assert timedelta(hours=23) < ends - datetime.now(UTC) <= timedelta(hours=24, minutes=1)
    SignInLink.objects.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert Client().get(link["signInLink"].removeprefix("http://localhost")).status_code == 401


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"role": "user"}, 400, "name"),
        ({"name": ""}, 400, "name"),
        ({"name": "x", "role": "root"}, 400, "role"),
        ({"name": "ada"}, 409, "name"),
    ],
)
def test_a_user_that_cannot_be_made_names_the_field(admin, user, body, status, field):
    found = admin.refused("POST", "/api/users", json=body)
    assert (found[0], found[2]["field"]) == (status, field)


def test_a_new_role_holds_from_the_next_request_on(admin, api, user, room):
    assert admin.call("PATCH", f"/api/users/{user.pk}", json={"role": "analyst"}).json()["role"] == "analyst"
    assert api.refused("POST", "/api/sessions", json={})[:2] == (403, "FORBIDDEN")
    assert admin.call("PATCH", f"/api/users/{user.pk}", json={"role": "user"}).json()["role"] == "user"
    assert api.post("/api/sessions", {}).status_code == 201


def test_a_disabled_user_is_out_everywhere_until_enabled(admin, api, user):
    browser = Client()
    browser.force_login(user)
    link = admin.post(f"/api/users/{user.pk}/link").json()["signInLink"].removeprefix("http://localhost")
    assert admin.call("PATCH", f"/api/users/{user.pk}", json={"active": False}).json()["active"] is False
    assert api.refused("GET", "/api/sessions")[:2] == (401, "UNAUTHENTICATED")
    assert browser.get("/").status_code == 302
    assert Client().get(link).status_code == 401
    assert admin.refused("POST", f"/api/users/{user.pk}/link")[:2] == (409, "CONFLICT")
    admin.call("PATCH", f"/api/users/{user.pk}", json={"active": True})
    assert api.get("/api/sessions").status_code == 200
    assert browser.get("/").status_code == 302, "what was signed out stays signed out"
    assert Client().get(link).status_code == 401, "what was void stays void"


@pytest.mark.parametrize("body", [{"role": "user"}, {"role": "analyst"}, {"active": False}])
def test_the_last_admin_stays_one(admin, boss, user, body):
    status, code, error = admin.refused("PATCH", f"/api/users/{boss.pk}", json=body)
    assert (status, code) == (409, "CONFLICT") and "boss is the last admin" in error["message"]
    admin.call("PATCH", f"/api/users/{user.pk}", json={"role": "admin"})
    assert admin.call("PATCH", f"/api/users/{boss.pk}", json=body).status_code == 200


@pytest.mark.parametrize("body", [{"role": "root"}, {"active": "no"}, {"active": 0}, {"name": "x"}])
def test_a_change_that_is_none_is_refused(admin, user, body):
    assert admin.refused("PATCH", f"/api/users/{user.pk}", json=body)[:2] == (400, "INVALID_INPUT")


@pytest.mark.parametrize("user_id", ["0", "nope", "9" * 30, "-1", "٣"])
def test_an_unknown_user_is_not_found(admin, user_id):
    assert admin.refused("PATCH", f"/api/users/{user_id}", json={"role": "user"})[:2] == (404, "NOT_FOUND")


# ── At once ─────────────────────────────────────────────────────────────────────────────────────


def test_a_wait_ends_when_its_token_is_revoked(api, user, room):
    async def both(client):
        waiting = asyncio.create_task(client.post(f"/api/sessions/{room.pk}/runs?wait=120", json=CODE))
        await until(Run.objects.exists)
        token = await writing(lambda: ApiToken.objects.get(user=user))
        await writing(lambda: people.revoke_token(user, token.pk))
        async with asyncio.timeout(SOON_S):
            return await waiting

    assert api.run(both).status_code == 401


def test_a_wait_ends_when_its_user_is_disabled(api, user, room):
    async def both(client):
        waiting = asyncio.create_task(client.post(f"/api/sessions/{room.pk}/runs?wait=120", json=CODE))
        await until(Run.objects.exists)
        await writing(lambda: people.change(user, active=False))
        async with asyncio.timeout(SOON_S):
            return await waiting

    assert api.run(both).status_code == 401


def test_a_stream_ends_when_its_reader_may_no_longer_read(analyst, room):
    run = queued_run(room)
    start_run(run)

    async def both(client):
        reader = asyncio.create_task(
            client.get(f"/api/runs/{run.id}/events", headers={"Accept": "text/event-stream"}, timeout=120)
        )
        await asyncio.sleep(0.3)
        await writing(lambda: people.change(User.objects.get(username="eve"), role="user"))
        async with asyncio.timeout(SOON_S):
            return await reader

    answer = analyst.run(both)
    assert '"kind":"started"' in answer.text and '"kind":"finished"' not in answer.text
    assert analyst.refused("GET", f"/api/runs/{run.id}/events")[:2] == (404, "NOT_FOUND")
