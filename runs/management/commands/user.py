"""`manage.py user create NAME --role ROLE`: make an account and print its one-use sign-in link."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from forja_site.supervisor_home import holder
from forja_site.supervisor_ready import page_address
from runs import accounts
from runs.models import User
from sandboxes.errors import ForjaError

LINK_MINUTES = 24 * 60


class Command(BaseCommand):
    help = "Manage accounts."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make an account and print its one-use sign-in link")
        create.add_argument("name", metavar="NAME")
        create.add_argument("--role", choices=User.Role.values, default=User.Role.USER.value)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            user = accounts.create_user(name=options["name"], role=options["role"])
        except ForjaError as error:
            raise CommandError(f"{error.message} {error.hint}") from error
        token = accounts.create_sign_in_link(user=user, reusable=False, minutes=LINK_MINUTES)
        running = holder(settings.FORJA_HOME)
        address = (running.url if running else "") or page_address(
            settings.HOST, settings.PORT, allowed=settings.ALLOWED_HOSTS, origins=settings.CSRF_TRUSTED_ORIGINS
        )
        self.stdout.write(f"{address}/sign-in/?token={token}")
        self.stderr.write(f"This link signs {user.username} in once, within a day.")
