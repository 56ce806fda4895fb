"""Users and tokens over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Router

from runs import accounts, people
from runs.api.bodies import read_nothing, read_object, text_field
from runs.api.callers import caller_of
from runs.api.database import reading, writing
from runs.api.paging import page_of
from runs.api.parameters import PageSize, checked_id
from runs.api.people_schemas import (
    LinkOut,
    MadeTokenOut,
    MadeUserOut,
    TokenIn,
    TokenPage,
    UserChange,
    UserIn,
    UserOut,
    UserPage,
)
from runs.api.replies import json_reply
from runs.api.schemas import ERRORS, json_body
from runs.models import ApiToken, User
from runs.present import iso
from sandboxes.errors import InvalidInput, NotFound

router = Router(tags=["people"])


def token_json(token: ApiToken) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "createdAt": iso(token.created_at),
        "expiresAt": iso(token.expires_at),
    }


def user_json(user: User) -> dict[str, Any]:
    return {
        "id": str(user.pk),
        "name": user.username,
        "role": user.role,
        "active": user.is_active,
        "createdAt": iso(user.created_at),
    }


def _link_json(request: HttpRequest, user: User) -> dict[str, Any]:
    address = request.build_absolute_uri(f"/sign-in/?token={people.new_link(user)}")
    return {"signInLink": address, "expiresAt": iso(timezone.now() + timedelta(minutes=people.LINK_MINUTES))}


# ── Tokens ──────────────────────────────────────────────────────────────────────────────────────


@router.get("/tokens", summary="List your own API tokens, newest first", response={200: TokenPage, **ERRORS})
async def list_tokens(request: HttpRequest, cursor: str = "", limit: PageSize = 50) -> HttpResponse:
    """Those that were not revoked. The tokens themselves are not kept, and shown only when they are made."""

    def work() -> dict[str, Any]:
        tokens = people.tokens_of(caller_of(request).user())
        return page_of(
            tokens,
            key="id",
            key_pattern=r"[0-9A-Za-z_-]{1,40}",
            cursor=cursor,
            limit=limit,
            show=lambda found: [token_json(token) for token in found],
        )

    return json_reply(await reading(work))


@router.post(
    "/tokens",
    summary="Make an API token for yourself",
    response={201: MadeTokenOut, **ERRORS},
    openapi_extra=json_body(TokenIn),
)
async def make_token(request: HttpRequest) -> HttpResponse:
    """`token` is shown this once. Without `days` it has no end but being revoked."""
    body = read_object(request, fields=("name", "days"))
    name, days = _required_text(body, "name"), _whole(body, "days")

    def work() -> dict[str, Any]:
        row, token = people.new_token(caller_of(request).user(), name=name, days=days)
        return token_json(row) | {"token": token}

    return json_reply(await writing(work), status=201)


@router.delete("/tokens/{token_id}", summary="Revoke an API token at once", response={204: None, **ERRORS})
async def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    """One of your own; an admin may revoke anybody's. Requests that wait or stream with it end too."""
    read_nothing(request)
    await writing(lambda: people.revoke_token(caller_of(request).user(), checked_id(token_id)))
    return HttpResponse(status=204)


# ── Users ───────────────────────────────────────────────────────────────────────────────────────


@router.get("/users", summary="List the users, newest first", response={200: UserPage, **ERRORS})
async def list_users(request: HttpRequest, cursor: str = "", limit: PageSize = 50) -> HttpResponse:
    """For admins: everybody with role and state."""

    def work() -> dict[str, Any]:
        people.require_admin(caller_of(request).user())
        return page_of(
            User.objects.all(),
            key="pk",
            key_pattern=r"\d{1,18}",
            cursor=cursor,
            limit=limit,
            show=lambda found: [user_json(user) for user in found],
        )

    return json_reply(await reading(work))


@router.post(
    "/users", summary="Make a user account", response={201: MadeUserOut, **ERRORS}, openapi_extra=json_body(UserIn)
)
async def make_user(request: HttpRequest) -> HttpResponse:
    """For admins: the account, and the link that signs its user in, once."""
    body = read_object(request, fields=("name", "role"))
    name, role = _required_text(body, "name"), text_field(body, "role")

    def work() -> dict[str, Any]:
        people.require_admin(caller_of(request).user())
        user = accounts.create_user(name=name, role=role if role is not None else User.Role.USER)
        return user_json(user) | _link_json(request, user)

    return json_reply(await writing(work), status=201)


@router.patch(
    "/users/{user_id}",
    summary="Change the role of a user, disable or enable",
    response={200: UserOut, **ERRORS},
    openapi_extra=json_body(UserChange),
)
async def change_user(request: HttpRequest, user_id: str) -> HttpResponse:
    """For admins. It holds at once, for open pages, waits and streams too; the last admin stays one."""
    body = read_object(request, fields=("role", "active"))
    role, active = text_field(body, "role"), body.get("active")
    if active is not None and not isinstance(active, bool):
        raise InvalidInput("`active` must be true or false.", field="active")

    def work() -> dict[str, Any]:
        people.require_admin(caller_of(request).user())
        return user_json(people.change(_user_of_id(user_id), role=role, active=active))

    return json_reply(await writing(work))


@router.post("/users/{user_id}/link", summary="Make a new sign-in link for a user", response={201: LinkOut, **ERRORS})
async def make_link(request: HttpRequest, user_id: str) -> HttpResponse:
    """For admins: good once, within a day; an earlier one that was not used is void."""
    read_nothing(request)

    def work() -> dict[str, Any]:
        people.require_admin(caller_of(request).user())
        return _link_json(request, _user_of_id(user_id))

    return json_reply(await writing(work), status=201)


def _user_of_id(user_id: str) -> User:
    known = user_id.isascii() and user_id.isdigit() and len(user_id) < 19
    user = User.objects.filter(pk=user_id).first() if known else None
    if user is None:
        raise NotFound("There is no user with this id.", hint="GET /api/users names those there are.")
    return user


def _required_text(body: dict[str, Any], name: str) -> str:
    value = text_field(body, name)
    if value is None:
        raise InvalidInput(f"`{name}` is missing.", field=name)
    return value


def _whole(body: dict[str, Any], name: str) -> int | None:
    value = body.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise InvalidInput(f"`{name}` must be a whole number.", field=name)
