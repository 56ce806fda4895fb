"""Who asks: a bearer token, or a signed-in page with its CSRF token."""

from __future__ import annotations

from typing import Protocol

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware, get_token
from ninja.security.base import AuthBase

from runs.accounts import user_of_page, user_of_token
from runs.models import User
from sandboxes.errors import Forbidden, Unauthenticated


class Caller(Protocol):
    def user(self) -> User:
        """Find the user, or raise `UNAUTHENTICATED`. Reads the database: call it on a database thread."""


class TokenCaller:
    """A program with a token. Looked up with the rest of its request, in the same hop."""

    def __init__(self, token: str) -> None:
        self._token = token

    def user(self) -> User:
        user = user_of_token(self._token)
        if user is None:
            raise Unauthenticated(
                "The token is unknown, revoked or has expired.", hint="Make one: `manage.py token create NAME`."
            )
        return user


class PageCaller:
    """A browser signed in on the page."""

    def __init__(self, cookie: str) -> None:
        self._cookie = cookie

    def user(self) -> User:
        user = user_of_page(self._cookie)
        if user is None:
            raise Unauthenticated("The page is no longer signed in.", hint="Sign in again.")
        return user


class Authentication(AuthBase):
    """Says who the caller claims to be; the claim is checked by `user()`, without which no row is reached."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    async def __call__(self, request: HttpRequest) -> Caller:
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is not None:
            return TokenCaller(_bearer_token(header))
        cookie = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        if cookie is None:
            raise Unauthenticated("This needs a token or a signed-in page.")
        _require_csrf(request)
        return PageCaller(cookie)


def _bearer_token(header: str) -> str:
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("The Authorization header is not `Bearer TOKEN`.")
    return token.strip()


class _Csrf(CsrfViewMiddleware):
    """Django's own check, giving its reason instead of a page."""

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        return HttpResponse(reason, status=403)


def _unused(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


_csrf = _Csrf(_unused)


def csrf_token(request: HttpRequest) -> str:
    """A token for a page that will write; the cookie it goes with is set by `with_csrf_cookie`."""
    _csrf.process_request(request)
    return get_token(request)


def with_csrf_cookie(request: HttpRequest, page: HttpResponse) -> HttpResponse:
    """Set the cookie behind `csrf_token`; one the browser already has is renewed, so that open pages keep working."""
    _csrf.process_response(request, page)
    return page


def _require_csrf(request: HttpRequest) -> None:
    _csrf.process_request(request)
    refusal = _csrf.process_view(request, _unused, (), {})
    if refusal is not None:
        reason = refusal.content.decode("utf-8", "replace")
        raise Forbidden(reason, hint="Send the page's CSRF token as X-CSRFToken, or use a bearer token instead.")


def caller_of(request: HttpRequest) -> Caller:
    """The caller that `Authentication` found."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    return caller
