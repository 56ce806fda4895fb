"""The shapes of users and tokens, for the API's OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Literal

from ninja import Schema
from pydantic import Field

from runs.api.schemas import Total
from runs.people import MAX_DAYS, MAX_TOKEN_NAME_CHARS

Role = Literal["user", "analyst", "admin"]


class TokenIn(Schema):
    name: Annotated[str, Field(min_length=1, max_length=MAX_TOKEN_NAME_CHARS)]
    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] | None = None


class TokenOut(Schema):
    id: str
    name: str
    createdAt: str
    expiresAt: str | None


class MadeTokenOut(TokenOut):
    token: str


class TokenPage(Schema):
    items: list[TokenOut]
    nextCursor: str | None
    total: Total


class UserIn(Schema):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    role: Role | None = None


class UserChange(Schema):
    role: Role | None = None
    active: bool | None = None


class UserOut(Schema):
    id: str
    name: str
    role: Role
    active: bool
    createdAt: str


class LinkOut(Schema):
    signInLink: str
    expiresAt: str


class MadeUserOut(UserOut, LinkOut):
    pass


class UserPage(Schema):
    items: list[UserOut]
    nextCursor: str | None
    total: Total
