"""The page of one run, its stop, and its texts as they were sent."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from runs import card_rows, rendering, services
from runs.cards import Card, Viewer
from runs.models import Run
from runs.output import output_parts, whole_text_path
from runs.views.page import page, show, user_of
from sandboxes.errors import AlreadyFinished, NotFound

MAX_COPIED_BYTES = 4 * 1024 * 1024


def _card(request: HttpRequest, run: Run, *, full: bool) -> Card:
    row = card_rows.rows().get(pk=run.pk)
    return Card(run=row, viewer=Viewer(user=user_of(request), full=full))


@require_GET
@page
def run_page(request: HttpRequest, run_id: str) -> HttpResponse:
    """One run with every part, and anchors to link to: `#call-7`, `#L8`."""
    card = _card(request, services.run_for(user_of(request), run_id), full=True)
    context = {"card": card, "session": card.run.session, "live_view": "run"}
    return show(request, "runs/run.html", context)


@require_POST
@page
def cancel(request: HttpRequest, run_id: str) -> HttpResponse:
    """Ask for the end of a run; a run that has ended meanwhile is simply shown."""
    run = services.run_for(user_of(request), run_id, write=True)
    try:
        run = services.cancel(user=user_of(request), run=run)
    except AlreadyFinished:
        run.refresh_from_db()
    if request.headers.get("HX-Request") == "true":
        card = _card(request, run, full=False)
        return HttpResponse(rendering.oob("div", f"{card.key}-actions", rendering.part_html(card, "actions")))
    return redirect(f"/sessions/{run.session_id}/#run-{run.id}")


@require_GET
@page
def raw(request: HttpRequest, run_id: str, part: str) -> HttpResponse:
    """The exact text of code, value or output, as JSON: it carries every character, also those HTML cannot."""
    run = services.run_for(user_of(request), run_id)
    return JsonResponse({"text": _text(run, part)})


def _text(run: Run, part: str) -> str:
    if part == "code":
        return run.code
    if part == "value" and run.value_json is not None:
        return run.value_json
    if part == "output":
        return "".join(_printed(run, stream) for stream in ("stdout", "stderr"))
    raise NotFound("This run has no such part.")


def _printed(run: Run, stream: str) -> str:
    path = whole_text_path(run, stream)
    if path is None or path.stat().st_size > MAX_COPIED_BYTES:
        return output_parts(run, stream).text
    return path.read_text(encoding="utf-8", errors="replace")
