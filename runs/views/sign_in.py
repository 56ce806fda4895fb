"""Signing in by a link, or by a token typed in; signing out."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from runs.accounts import redeem_sign_in_link, user_of_token
from runs.models import User
from runs.pokes import poke_rights
from runs.views.page import public
from sandboxes.errors import Unauthenticated

MAX_TOKEN_CHARS = 200


@require_http_methods(["GET", "HEAD", "POST"])
@public
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in with a good token and go on without it in the address; else the form, saying what was wrong."""
    given = request.POST if request.method == "POST" else request.GET
    token, target = given.get("token", ""), _safe_target(request, given.get("next", ""))
    # A link preview asks with HEAD: it must not use the token up.
    if token and request.method != "HEAD":
        response = _redeem(request, token, target)
    else:
        response = _form(request, target)
    # The token must not travel on in a Referer header.
    response["Referrer-Policy"] = "no-referrer" if token else "same-origin"
    return response


def _redeem(request: HttpRequest, token: str, target: str) -> HttpResponse:
    user = _user_of(token[:MAX_TOKEN_CHARS], is_typed=request.method == "POST")
    if user is None:
        # Opening one's own link twice is no error for somebody who is signed in.
        if request.user.is_authenticated and request.method == "GET":
            return redirect(target or "/")
        return _form(request, target, error=_("This token is unknown, used or expired. Make a new one as below."))
    login(request, user)
    return redirect(target or "/")


def _user_of(token: str, *, is_typed: bool) -> User | None:
    """Whose token it is: a link's, or, typed into the form, an API token; those never belong in an address."""
    try:
        return redeem_sign_in_link(token)
    except Unauthenticated:
        return user_of_token(token) if is_typed else None


def _form(request: HttpRequest, target: str, *, error: str = "") -> HttpResponse:
    context = {"error": error, "next": target}
    return render(request, "sign_in.html", context, status=401 if error else 200)


def _safe_target(request: HttpRequest, target: str) -> str:
    """A path of this site, or nothing."""
    allowed = url_has_allowed_host_and_scheme(target, allowed_hosts=None, require_https=request.is_secure())
    return target if allowed and target.startswith("/") else ""


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this browser's session, also for open pages and copies of its cookie."""
    logout(request)
    poke_rights()
    return redirect("sign-in")
