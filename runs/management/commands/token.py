"""`manage.py token create|list|revoke`: the API tokens of an account."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from runs import people
from runs.models import ApiToken, User
from runs.present import iso
from runs.visible import plain
from sandboxes.errors import ForjaError


class Command(BaseCommand):
    help = "Make, list and revoke API tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a token for an account and print it, this once")
        create.add_argument("name", metavar="NAME", help="whose token it is")
        create.add_argument("--days", type=int, metavar="N", help="days it is good for; for ever when not given")
        listed = verbs.add_parser("list", help="list the tokens of an account: id, made, ends, name")
        listed.add_argument("name", metavar="NAME")
        revoke = verbs.add_parser("revoke", help="end a token at once, by its id")
        revoke.add_argument("id", metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except ForjaError as error:
            raise CommandError(f"{error.message} {error.hint}") from error

    def _create(self, options: dict[str, Any]) -> None:
        user, days = people.user_named(options["name"]), options["days"]
        if not user.is_active:
            raise CommandError(f"{user.username} is disabled: `manage.py user enable {user.username}` first.")
        if days is not None and not 1 <= days <= people.MAX_DAYS:
            raise CommandError(f"--days {days} is none of 1 to {people.MAX_DAYS}.")
        _, token = people.new_token(user, name="command line", days=days)
        self.stdout.write(token)

    def _list(self, options: dict[str, Any]) -> None:
        for token in people.tokens_of(people.user_named(options["name"])):
            self.stdout.write(f"{token.pk}  {iso(token.created_at)}  {_end_of(token)}  {plain(token.name)}")

    def _revoke(self, options: dict[str, Any]) -> None:
        # Whoever has this terminal has the database: it acts as an admin.
        people.revoke_token(User(role=User.Role.ADMIN), options["id"])
        self.stdout.write("Revoked.")


def _end_of(token: ApiToken) -> str:
    if token.expires_at is None:
        return "no end".ljust(24)
    return "expired".ljust(24) if token.expires_at <= timezone.now() else str(iso(token.expires_at))
