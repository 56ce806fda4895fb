"""One's own account: who one is here, the API tokens, signing out everywhere."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from runs import accounts, people
from runs.forms import TokenForm
from runs.views.page import page, show, user_of
from sandboxes.errors import ForjaError, NotFound


@require_http_methods(["GET", "HEAD", "POST"])
@page
def account(request: HttpRequest) -> HttpResponse:
    """Role and tokens; a POST makes a token, shown on the answer and never again."""
    form = TokenForm(request.POST or None)
    made: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            row, token = people.new_token(user_of(request), **form.cleaned_data)
        except ForjaError as error:
            form.add_problem(error)
        else:
            made, form = {"made": row, "token": token}, TokenForm()
    return _account_page(request, form, made)


def _account_page(request: HttpRequest, form: TokenForm, made: dict[str, Any]) -> HttpResponse:
    context = {"form": form, "tokens": people.tokens_of(user_of(request)), "at_account": True, **made}
    return show(request, "account.html", context, status=400 if form.errors else 200)


@require_POST
@page
def revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    """End one of one's own tokens; one that ended meanwhile is not found."""
    token = people.tokens_of(user_of(request)).filter(pk=token_id).first()
    if token is None:
        raise NotFound("There is no such token of yours.", hint="It may have been revoked already.")
    people.revoke_token(user_of(request), token.pk)
    return redirect("account")


@require_POST
@page
def sign_out_everywhere(request: HttpRequest) -> HttpResponse:
    """End every signed-in page of this account, in every browser. Tokens stay."""
    accounts.end_page_sessions(user_of(request))
    logout(request)
    return redirect("sign-in")
