"""What every page shares: who looks, in which language, how errors look, what the frame says."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.translation import check_for_language, gettext, gettext_noop
from django.views.decorators.cache import never_cache

from forja_site.config import Config
from runs import labels
from runs.configuration import config_for
from runs.models import User
from sandboxes.errors import Forbidden, ForjaError, NotFound

YEAR_S = 365 * 24 * 3600

View = Callable[..., HttpResponse]


def user_of(request: HttpRequest) -> User:
    """The signed-in user of a page that asked for one."""
    assert isinstance(request.user, User)
    return request.user


def public(view: View) -> View:
    """A page anyone may open: handles `?lang=`."""

    @never_cache
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return _switched(request) or view(request, *args, **kwargs)

    return wrapped


def page(view: View) -> View:
    """A page for somebody signed in: others go to the sign-in page; errors become a page with what to do."""

    @public
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        try:
            return view(request, *args, **kwargs)
        except ForjaError as error:
            return problem(request, error)

    return wrapped


def _switched(request: HttpRequest) -> HttpResponse | None:
    """Remember a language asked for by `?lang=` and open the same page without it."""
    code = request.GET.get("lang", "")
    if request.method != "GET" or code not in dict(settings.LANGUAGES) or not check_for_language(code):
        return None
    query = request.GET.copy()
    del query["lang"]
    target = f"{request.path}?{query.urlencode()}" if query else request.path
    response = HttpResponseRedirect(target)
    response.set_cookie(settings.LANGUAGE_COOKIE_NAME, code, max_age=YEAR_S, samesite="Lax", httponly=True)
    return response


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    if request.headers.get("HX-Request") == "true":
        # A redirect would be followed inside the page; this asks htmx to leave it.
        response = HttpResponse(status=401)
        response["HX-Redirect"] = settings.LOGIN_URL
        return response
    if request.method != "GET":
        return redirect(settings.LOGIN_URL)
    return redirect(f"{settings.LOGIN_URL}?{_next_query(request)}")


def _next_query(request: HttpRequest) -> str:
    from urllib.parse import urlencode

    return urlencode({"next": request.get_full_path()})


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What unknown addresses get."""
    return problem(request, NotFound("There is no such page.", hint="Start from the list of sessions."))


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """What a form gets whose page is older than the last sign-in, or that is not ours at all."""
    message = gettext_noop("This form belongs to a page that is no longer valid.")
    return problem(
        request, Forbidden(message, hint=gettext_noop("Open the page again, then send the form from there."))
    )


def problem(request: HttpRequest, error: ForjaError) -> HttpResponse:
    """An error as a page; inside an open page, the open page anew, which then says the same."""
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(status=error.http_status, headers={"HX-Refresh": "true"})
    heading = labels.CODE.get(error.code) or gettext("Something went wrong")
    context = {"heading": heading, "message": error.message, "hint": error.hint}
    return show(request, "problem.html", context, status=error.http_status)


def show(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200, config: Config | None = None
) -> HttpResponse:
    """Render a whole page with what its frame needs."""
    query = request.GET.copy()
    query.pop("lang", None)
    query.pop("token", None)
    frame = {
        "version": settings.FORJA_VERSION,
        "lang_url": f"?{query.urlencode()}&lang=" if query else "?lang=",
        "config_problems": (config or config_for()).problems[:5] if request.user.is_authenticated else (),
    }
    return render(request, template, {**frame, **context}, status=status)


def remember(response: HttpResponse, name: str, value: str) -> None:
    """Keep a choice of view; the page's script changes it too."""
    response.set_cookie(name, value, max_age=YEAR_S, samesite="Lax")
