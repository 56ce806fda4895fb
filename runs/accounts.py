"""Making accounts, sign-in links and tokens, and finding the user behind one."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.db.models import Q, QuerySet
from django.utils import timezone

from runs.models import ApiToken, SignInLink, User
from runs.models.prepared import Prepared
from runs.pokes import poke_rights
from sandboxes.errors import Conflict, InvalidInput, Unauthenticated


def sha256_hex(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def create_user(*, name: str, role: str = User.Role.USER) -> User:
    """Make an account; the name is free or `CONFLICT`."""
    if role not in User.Role.values:
        raise InvalidInput(f"Role {role!r} is none of {', '.join(User.Role.values)}.", field="role")
    if not name or len(name) > 64 or not name.isprintable() or name != name.strip():
        raise InvalidInput("A name is 1 to 64 printable characters without spaces around it.", field="name")
    user, created = User.objects.get_or_create(username=name, defaults={"role": role, "password": _session_stamp()})
    if not created:
        raise Conflict(f"There is a user {name!r} already.", hint="Choose another name.", field="name")
    return user


def _session_stamp() -> str:
    """Stand in for the password: signed-in pages stay valid only while it is unchanged."""
    return "!" + secrets.token_hex(16)


def first_admin() -> User:
    """The admin a fresh home starts with; made when there is none."""
    admin = User.objects.filter(role=User.Role.ADMIN, is_active=True).order_by("pk").first()
    return admin or create_user(name="admin", role=User.Role.ADMIN)


def create_sign_in_link(*, user: User, reusable: bool = False, minutes: int = 24 * 60) -> str:
    """Give a new sign-in token for `/sign-in/?token=…`; only its hash is stored."""
    token = secrets.token_urlsafe(24)
    expires_at = timezone.now() + timedelta(minutes=minutes)
    SignInLink.objects.create(user=user, token_sha256=sha256_hex(token), expires_at=expires_at, reusable=reusable)
    return token


def redeem_sign_in_link(token: str) -> User:
    """Give the user of a link that is still good, and use it up unless it is reusable."""
    now = timezone.now()
    good = SignInLink.objects.filter(Q(reusable=True) | Q(used_at=None), expires_at__gt=now, user__is_active=True)
    link = good.filter(token_sha256=sha256_hex(token)).select_related("user").first()
    # The row count decides between two browsers that open a one-use link at once.
    if link is None or not good.filter(pk=link.pk).update(used_at=now):
        raise Unauthenticated(
            "This sign-in token was used or has expired.",
            hint="Print a new link where Forja runs: `manage.py token create NAME`, or start it again.",
        )
    return link.user


def create_token(*, user: User, name: str, days: int | None = None) -> str:
    """Give a new API token, shown this once; only its hash is stored."""
    token = "forja_" + secrets.token_urlsafe(32)
    expires_at = timezone.now() + timedelta(days=days) if days else None
    ApiToken.objects.create(user=user, name=name, token_sha256=sha256_hex(token), expires_at=expires_at)
    return token


def _active_with_token() -> QuerySet[User]:
    return User.objects.filter(
        Q(apitoken__expires_at=None) | Q(apitoken__expires_at__gt=timezone.now()),
        apitoken__token_sha256="",
        apitoken__revoked_at=None,
        is_active=True,
    )


_holder_of = Prepared(_active_with_token)


def user_of_token(token: str) -> User | None:
    """The active user a bearer token stands for, or None."""
    return _holder_of.first(timezone.now(), sha256_hex(token))


def user_of_page(cookie: str) -> User | None:
    """The active user that a page's session cookie stands for now, or None: read anew at each call."""
    store = import_module(settings.SESSION_ENGINE).SessionStore(cookie)
    request: Any = SimpleNamespace(session=store)
    user = get_user(request)
    return user if isinstance(user, User) else None


def end_page_sessions(user: User) -> None:
    """Sign the user out everywhere: every signed-in page holds a hash of this stamp."""
    User.objects.filter(pk=user.pk).update(password=_session_stamp())
    poke_rights()
