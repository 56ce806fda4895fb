"""Sessions over HTTP."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from runs.api.bodies import read_nothing, read_object, text_field
from runs.api.callers import caller_of
from runs.api.database import reading, writing
from runs.api.paging import page_of
from runs.api.parameters import PageSize, checked_id
from runs.api.replies import json_reply
from runs.api.schemas import ERRORS, SessionIn, SessionOut, SessionPage, json_body
from runs.models import Session
from runs.present import iso
from runs.sessions import create_session, delete_session, session_for

FIELDS = ("title", "workspace", "parent")

router = Router(tags=["sessions"])


def session_json(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "title": session.title,
        "workspace": session.workspace,
        "parent": session.parent_id,
        "owner": session.owner.username,
        "createdAt": iso(session.created_at),
        "updatedAt": iso(session.updated_at),
    }


@router.post("", summary="Open a new session", response={201: SessionOut, **ERRORS}, openapi_extra=json_body(SessionIn))
async def create(request: HttpRequest) -> HttpResponse:
    """Open a session. A child (`parent`) shares its root's scratchpad."""
    body = read_object(request, fields=FIELDS)
    title, workspace, parent_id = (text_field(body, name) for name in FIELDS)

    def work() -> dict[str, Any]:
        user = caller_of(request).user()
        parent = session_for(user, checked_id(parent_id), write=True) if parent_id is not None else None
        default = parent.workspace if parent else "default"
        made = create_session(user=user, title=title or "", workspace=workspace or default, parent=parent)
        return session_json(made)

    return json_reply(await writing(work), status=201)


@router.get("", summary="List the sessions you may see, newest first", response={200: SessionPage, **ERRORS})
async def list_sessions(request: HttpRequest, cursor: str = "", limit: PageSize = 50) -> HttpResponse:
    """The sessions the caller may see, newest first."""

    def work() -> dict[str, Any]:
        rows = Session.objects.visible_to(caller_of(request).user()).select_related("owner")
        return page_of(
            rows,
            key="id",
            key_pattern=r"[0-9A-Za-z_-]{1,40}",
            cursor=cursor,
            limit=limit,
            show=lambda found: [session_json(session) for session in found],
        )

    return json_reply(await reading(work))


@router.get("/{session_id}", summary="Read one session by its id", response={200: SessionOut, **ERRORS})
async def get(request: HttpRequest, session_id: str) -> HttpResponse:
    """A session of yours; of anybody's for analysts and admins."""

    def work() -> dict[str, Any]:
        return session_json(session_for(caller_of(request).user(), checked_id(session_id)))

    return json_reply(await reading(work))


@router.delete("/{session_id}", summary="Delete a session with its runs", response={204: None, **ERRORS})
async def delete(request: HttpRequest, session_id: str) -> HttpResponse:
    """Remove a session with its runs and children; `CONFLICT` while one of their runs is active."""
    read_nothing(request)

    def work() -> None:
        user = caller_of(request).user()
        delete_session(session=session_for(user, checked_id(session_id), write=True))

    await writing(work)
    return HttpResponse(status=204)
