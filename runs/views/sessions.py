"""The list of sessions and the page of one, with its composer and cards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from forja_site.config import Config
from runs import card_rows, queue, services, session_list
from runs.cards import Card, Viewer
from runs.configuration import config_for, workspace_named
from runs.examples import EXAMPLES, example_named
from runs.forms import RunForm, SessionForm, composer_start
from runs.live import RAIL, Page, Told, read_told
from runs.models import Run, Session, User
from runs.rendering import fill
from runs.sessions import create_session, session_for
from runs.views.page import page, remember, show, user_of
from runs.workspaces import DEFAULT_WORKSPACE, workspaces
from sandboxes.errors import Forbidden, ForjaError, InvalidInput

CARDS = 20
SESSIONS = 50
CALLS_COOKIE = "forja_calls"


@require_http_methods(["GET", "HEAD", "POST"])
@page
def index(request: HttpRequest) -> HttpResponse:
    """Every session this user may see, newest first; a POST opens a new one."""
    form = SessionForm(request.POST or None, initial={"workspace": DEFAULT_WORKSPACE})
    if request.method == "POST" and form.is_valid():
        try:
            session = create_session(user=user_of(request), **form.cleaned_data)
        except Forbidden:
            raise  # about the person, not about what was filled in
        except ForjaError as error:
            form.add_problem(error)
        else:
            return redirect("session", session.pk)
    return _index_page(request, form)


def _may_open(user: User) -> bool:
    return user.role != User.Role.ANALYST


def _index_page(request: HttpRequest, form: SessionForm) -> HttpResponse:
    before = request.GET.get("before", "")
    entries, older = session_list.newest(user_of(request), most=SESSIONS, before=before)
    context = {
        "form": form,
        "workspaces": sorted(_workspaces()),
        "entries": entries,
        "older": older,
        "before": before,
        "total": Session.objects.visible_to(user_of(request)).count(),
        "at_index": True,
        "may_open": _may_open(user_of(request)),
    }
    return show(request, "runs/sessions.html", context, status=400 if form.errors else 200)


def _workspaces() -> list[str]:
    try:
        return list(workspaces(config_for().workspaces, Path(settings.FORJA_HOME)))
    except ForjaError:
        return [DEFAULT_WORKSPACE]


@require_safe
@page
def session_page(request: HttpRequest, session_id: str) -> HttpResponse:
    """One session: composer, and its newest runs as cards."""
    session = session_for(user_of(request), session_id)
    return _session_page(request, session, _composer_form(request, session))


def _composer_form(request: HttpRequest, session: Session) -> RunForm:
    """An empty composer, or one that starts from an example or from an earlier run."""
    given: dict[str, Any] = {}
    example = example_named(request.GET.get("example", ""))
    if example is not None:
        given = {"title": example.title, "code": example.code}
    elif "from" in request.GET:
        run = Run.objects.filter(session=session, id=request.GET["from"]).first()
        given = {"title": run.title, "code": run.code, "args": run.args_json} if run is not None else {}
    return RunForm(initial=composer_start(_config_of(session), **given))


def _config_of(session: Session) -> Config:
    """The configuration of the session's workspace, or the global one when the workspace is gone."""
    config = config_for()
    try:
        return config_for(workspace_named(config, session.workspace))
    except ForjaError:
        return config


def _session_page(request: HttpRequest, session: Session, form: RunForm, *, status: int = 200) -> HttpResponse:
    user, config = user_of(request), _config_of(session)
    before = _whole_number(request.GET.get("before", ""))
    runs = card_rows.rows(session).order_by("-number")
    if before:
        runs = runs.filter(number__lt=before)
    found = list(runs[: CARDS + 1])
    calls_view = _calls_view(request)
    context = {
        **_composer_context(session, form, config),
        "rail": session_list.rail(user, session, most=RAIL),
        "cards": _cards(found[:CARDS], Viewer(user=user)),
        "counts": queue.counts(session),
        "older": found[CARDS - 1].pk if len(found) > CARDS else None,
        "before": before,
        "may_act": Viewer(user=user).may_act(session),
        "may_open": _may_open(user),
        "calls_view": calls_view,
        "live_view": "older" if before else "session",
        "read_only": _is_read_only(config, session),
    }
    response = show(request, "runs/session.html", context, status=status, config=config)
    if "calls" in request.GET:
        remember(response, CALLS_COOKIE, calls_view)
    return response


def _cards(runs: list[Run], viewer: Viewer) -> list[Card]:
    line = queue.line_up() if any(run.status == Run.Status.QUEUED for run in runs) else []
    return [Card(run=run, viewer=viewer, line=line) for run in runs]


def _composer_context(session: Session, form: RunForm, config: Config) -> dict[str, Any]:
    start = composer_start(config)
    return {
        "session": session,
        "form": form,
        "examples": EXAMPLES,
        "most_seconds": start["seconds"],
        "most_calls": start["calls"],
    }


def _is_read_only(config: Config, session: Session) -> bool:
    row = config.workspaces.get(session.workspace)
    return bool(row is not None and row.read_only)


def _calls_view(request: HttpRequest) -> str:
    wanted = request.GET.get("calls") or request.COOKIES.get(CALLS_COOKIE)
    return "quiet" if wanted == "quiet" else "full"


def _whole_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


@require_POST
@page
def submit(request: HttpRequest, session_id: str) -> HttpResponse:
    """Ask for a run. Without script the page opens anew at its card; with it the socket brings the card."""
    session = session_for(user_of(request), session_id, write=True)
    form = RunForm(request.POST)
    run = _submitted(request, session, form)
    if request.headers.get("HX-Request") == "true":
        context = _composer_context(session, form, _config_of(session))
        return HttpResponse(fill("_composer", request, sent=run, **context), status=200 if run else 422)
    if run is None:
        return _session_page(request, session, form, status=422)
    return redirect(f"{request.path.removesuffix('runs/')}?from={run.id}#run-{run.id}")


def _submitted(request: HttpRequest, session: Session, form: RunForm) -> Run | None:
    if not form.is_valid():
        return None
    try:
        return services.submit(user=user_of(request), session=session, request=form.request(), door=Run.Door.PAGE)
    except ForjaError as error:
        form.add_problem(error)
        return None


@require_GET
@page
def live(request: HttpRequest, session_id: str) -> HttpResponse:
    """What the socket would send on connecting: for pages whose network lets no socket through."""
    user = user_of(request)
    session = session_for(user, session_id)
    told = _told(request)
    viewer = Viewer(user=user, full=told.view == "run")
    return HttpResponse(Page(viewer=viewer, session=session, told=told).catch_up())


def _told(request: HttpRequest) -> Told:
    try:
        told = read_told(json.loads(request.GET.get("told", "")))
    except (ValueError, RecursionError):
        told = None
    if told is None:
        raise InvalidInput("`told` must say which cards the page holds.", field="told")
    return told
