"""Changing accounts and tokens: who may, what follows at once, and what is never left undone."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from runs import accounts
from runs.models import ApiToken, SignInLink, User
from runs.pokes import poke_rights
from runs.requests import storable
from runs.writing import write
from sandboxes.errors import Conflict, Forbidden, InvalidInput, NotFound

MAX_TOKENS = 100
MAX_TOKEN_NAME_CHARS = 100
MAX_DAYS = 36_500
LINK_MINUTES = 24 * 60


def require_admin(user: User) -> None:
    if not user.is_admin:
        raise Forbidden("Only an admin manages accounts.", hint="Ask an admin.")


def user_named(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise NotFound(f"There is no account {name!r}.", hint="Make it with `manage.py user create NAME`.")
    return user


def change(user: User, *, role: str | None = None, active: bool | None = None) -> User:
    """Give another role, disable or enable. Disabling signs out everywhere, at once, and voids sign-in links.

    The last admin who can sign in keeps both: `CONFLICT`.
    """
    if role is not None and role not in User.Role.values:
        raise InvalidInput(f"`role` must be one of {', '.join(User.Role.values)}.", field="role")
    with write():
        admins = User.objects.select_for_update().filter(role=User.Role.ADMIN, is_active=True)
        others = {admin.pk for admin in admins} - {user.pk}
        row = User.objects.select_for_update().get(pk=user.pk)
        was_admin = row.is_admin and row.is_active
        row.role = role if role is not None else row.role
        row.is_active = active if active is not None else row.is_active
        if was_admin and not others and not (row.is_admin and row.is_active):
            raise Conflict(f"{row.username} is the last admin.", hint="Make somebody else an admin first.")
        row.save(update_fields=["role", "is_active"])
        if active is False:
            SignInLink.objects.filter(user=row).delete()
    if active is False:
        accounts.end_page_sessions(row)
    else:
        poke_rights()
    row.refresh_from_db()
    return row


def new_link(user: User) -> str:
    """A sign-in token for one use within `LINK_MINUTES`; earlier ones of this user that were not used are void."""
    if not user.is_active:
        raise Conflict(f"{user.username} is disabled.", hint="Enable the account first.")
    SignInLink.objects.filter(user=user, reusable=False, used_at=None).delete()
    return accounts.create_sign_in_link(user=user, minutes=LINK_MINUTES)


# ── Tokens ──────────────────────────────────────────────────────────────────────────────────────


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The tokens that were not revoked, newest first; those past their time among them."""
    return ApiToken.objects.filter(user=user, revoked_at=None).order_by("-created_at", "-id")


def new_token(user: User, *, name: str, days: int | None = None) -> tuple[ApiToken, str]:
    """Make a token with a name of one's own choosing; gives its row and the token itself, which is shown this once."""
    name = name.strip()
    if not name or len(name) > MAX_TOKEN_NAME_CHARS or not name.isprintable() or storable(name) != name:
        raise InvalidInput(f"A token's name is 1 to {MAX_TOKEN_NAME_CHARS} printable characters.", field="name")
    if days is not None and not 1 <= days <= MAX_DAYS:
        hint = "Leave it out for a token without end."
        raise InvalidInput(f"`days` must be 1 to {MAX_DAYS}.", hint=hint, field="days")
    with write():
        # One at a time per user, so that two at once cannot both be the last one allowed.
        User.objects.select_for_update().get(pk=user.pk)
        if tokens_of(user).count() >= MAX_TOKENS:
            raise Conflict(f"There are {MAX_TOKENS} tokens already.", hint="Revoke those that nothing uses any more.")
        token = accounts.create_token(user=user, name=name, days=days)
    return ApiToken.objects.get(token_sha256=accounts.sha256_hex(token)), token


def revoke_token(user: User, token_id: str) -> None:
    """End a token of one's own, or, as an admin, anybody's; what waits or streams with it ends at once."""
    tokens = ApiToken.objects.filter(pk=token_id, revoked_at=None)
    if not user.is_admin:
        tokens = tokens.filter(user=user)
    if not tokens.update(revoked_at=timezone.now()):
        raise NotFound("There is no such token of yours.", hint="It may have been revoked already.")
    poke_rights()
