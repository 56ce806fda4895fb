"""`manage.py token create NAME [--days N]`: make an API token for an account and print it, this once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from runs import accounts
from runs.models import User

MAX_DAYS = 36_500


class Command(BaseCommand):
    help = "Manage API tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a token for an account and print it, this once")
        create.add_argument("name", metavar="NAME", help="whose token it is")
        create.add_argument("--days", type=int, metavar="N", help="days it is good for; for ever when not given")

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["days"]
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise CommandError(f"--days {days} is none of 1 to {MAX_DAYS}.")
        user = User.objects.filter(username=options["name"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no account {options['name']!r}: make it with `manage.py user create NAME`.")
        self.stdout.write(accounts.create_token(user=user, name="command line", days=days))
