"""`manage.py user create|list|link|role|disable|enable`: the accounts of this instance."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from forja_site.supervisor_home import holder
from forja_site.supervisor_ready import page_address
from runs import accounts, people
from runs.models import User
from runs.visible import plain
from sandboxes.errors import ForjaError


class Command(BaseCommand):
    help = "Make, list and change accounts."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)

        def verb(name: str, words: str) -> CommandParser:
            made: CommandParser = verbs.add_parser(name, help=words)
            if name != "list":
                made.add_argument("name", metavar="NAME")
            return made

        create = verb("create", "make an account and print its one-use sign-in link")
        create.add_argument("--role", choices=User.Role.values, default=User.Role.USER.value)
        verb("list", "list the accounts: role, state, name")
        verb("link", "print a new one-use sign-in link; an earlier one that was not used is void")
        verb("role", "give an account another role").add_argument("role", choices=User.Role.values)
        verb("disable", "sign an account out everywhere, at once, and keep it out")
        verb("enable", "let a disabled account in again")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except ForjaError as error:
            raise CommandError(f"{error.message} {error.hint}") from error

    def _create(self, options: dict[str, Any]) -> None:
        self._print_link(accounts.create_user(name=options["name"], role=options["role"]))

    def _link(self, options: dict[str, Any]) -> None:
        self._print_link(people.user_named(options["name"]))

    def _print_link(self, user: User) -> None:
        token = people.new_link(user)
        running = holder(settings.FORJA_HOME)
        address = (running.url if running else "") or page_address(
            settings.HOST, settings.PORT, allowed=settings.ALLOWED_HOSTS, origins=settings.CSRF_TRUSTED_ORIGINS
        )
        self.stdout.write(f"{address}/sign-in/?token={token}")
        self.stderr.write(f"This link signs {plain(user.username)} in once, within a day.")

    def _list(self, options: dict[str, Any]) -> None:
        for user in User.objects.order_by("username"):
            state = "active" if user.is_active else "disabled"
            self.stdout.write(f"{user.role:<8} {state:<9} {plain(user.username)}")

    def _role(self, options: dict[str, Any]) -> None:
        self._say(people.change(people.user_named(options["name"]), role=options["role"]))

    def _disable(self, options: dict[str, Any]) -> None:
        self._say(people.change(people.user_named(options["name"]), active=False))

    def _enable(self, options: dict[str, Any]) -> None:
        self._say(people.change(people.user_named(options["name"]), active=True))

    def _say(self, user: User) -> None:
        state = "may sign in" if user.is_active else "is signed out and may not sign in"
        self.stdout.write(f"{plain(user.username)} has the role {user.role} and {state}.")
