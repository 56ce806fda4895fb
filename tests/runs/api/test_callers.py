"""Who may call: tokens, and signed-in pages with CSRF."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.middleware.csrf import _get_new_csrf_string
from django.utils import timezone

from runs.accounts import end_page_sessions
from runs.models import ApiToken


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer", "Basic YTpi", "bearer  ", "Bearer \xe9"])
def test_a_wrong_authorization_header_is_401(nobody, header):
    reply = nobody.get("/api/runs", headers={"Authorization": header.encode("latin-1")})
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "UNAUTHENTICATED")
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/sessions"),
        ("POST", "/api/sessions"),
        ("GET", "/api/sessions/x"),
        ("DELETE", "/api/sessions/x"),
        ("POST", "/api/sessions/x/runs"),
        ("GET", "/api/runs"),
        ("POST", "/api/runs/cancel"),
        ("GET", "/api/runs/x"),
        ("GET", "/api/runs/x/events"),
        ("GET", "/api/runs/x/calls/1"),
        ("GET", "/api/runs/x/output"),
        ("POST", "/api/runs/x/cancel"),
    ],
)
def test_every_operation_wants_a_caller(nobody, method, path):
    assert nobody.refused(method, path)[:2] == (401, "UNAUTHENTICATED")
    forged = {"Authorization": "Bearer forged"}
    body = (
        {"tool": "js_run", "code": "return 1"}
        if path.endswith("x/runs")
        else {"ids": ["x"]}
        if "runs/cancel" in path
        else {}
    )
    options = {"json": body} if method == "POST" else {}
    assert nobody.refused(method, path, headers=forged, **options)[:2] == (401, "UNAUTHENTICATED")


def test_a_revoked_or_expired_token_is_401(api):
    assert api.get("/api/runs").status_code == 200
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert api.refused("GET", "/api/runs")[:2] == (401, "UNAUTHENTICATED")
    ApiToken.objects.update(expires_at=None, revoked_at=timezone.now())
    assert api.refused("GET", "/api/runs")[:2] == (401, "UNAUTHENTICATED")


def test_a_disabled_user_is_401(api, user):
    user.is_active = False
    user.save()
    assert api.refused("GET", "/api/runs")[:2] == (401, "UNAUTHENTICATED")


def page_cookies(user, csrf=None):
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    cookies = {settings.SESSION_COOKIE_NAME: store.session_key}
    return cookies | ({settings.CSRF_COOKIE_NAME: csrf} if csrf else {})


def cookie_header(cookies):
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}


def test_a_signed_in_page_reads_and_writes_with_its_csrf_token(nobody, user):
    csrf = _get_new_csrf_string()
    headers = cookie_header(page_cookies(user, csrf))
    assert nobody.get("/api/runs", headers=headers).status_code == 200
    made = nobody.post("/api/sessions", {}, headers=headers | {"X-CSRFToken": csrf, "Origin": "http://localhost"})
    assert (made.status_code, made.json()["owner"]) == (201, "ada")


@pytest.mark.parametrize("extra", [{}, {"X-CSRFToken": "x" * 32}, {"Origin": "http://elsewhere.example"}])
def test_a_page_without_its_csrf_token_is_403(nobody, user, extra):
    csrf = _get_new_csrf_string()
    if "Origin" in extra:
        extra = extra | {"X-CSRFToken": csrf}
    headers = cookie_header(page_cookies(user, csrf)) | extra
    assert nobody.refused("POST", "/api/sessions", json={}, headers=headers)[:2] == (403, "FORBIDDEN")


def test_a_page_signed_out_everywhere_is_401(nobody, user):
    headers = cookie_header(page_cookies(user))
    end_page_sessions(user)
    assert nobody.refused("GET", "/api/runs", headers=headers)[:2] == (401, "UNAUTHENTICATED")


def test_a_forged_session_cookie_is_401(nobody):
    headers = cookie_header({settings.SESSION_COOKIE_NAME: "forged"})
    assert nobody.refused("GET", "/api/runs", headers=headers)[:2] == (401, "UNAUTHENTICATED")
