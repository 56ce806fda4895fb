"""`manage.py serve`: everything that `make run` starts, under one supervisor."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand

from forja_site.supervisor import Instance, serve
from forja_site.supervisor_database import leave_database, prepare_database
from forja_site.supervisor_home import CannotStart
from forja_site.supervisor_ready import page_address, site_name
from forja_site.whole_file import write_whole
from runs import accounts

LINK_MINUTES = 24 * 60


class Command(BaseCommand):
    help = "Start the broker, a worker and the web pages, and keep them up until asked to stop."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        home = Path(settings.FORJA_HOME)
        host, port, allowed = settings.HOST, settings.PORT, settings.ALLOWED_HOSTS
        instance = Instance(
            home=home,
            host=host,
            port=port,
            version=settings.FORJA_VERSION,
            engine=Path(settings.FORJA_ENGINE_PATH),
            site=site_name(host, allowed=allowed),
            url=page_address(host, port, allowed=allowed, origins=settings.CSRF_TRUSTED_ORIGINS),
            environ=dict(os.environ),
        )
        try:
            status = serve(
                instance,
                prepare=lambda written_by: prepare_database(home=home, written_by=written_by, say=say),
                greet=lambda: _greet(instance),
                say=say,
            )
        except CannotStart as error:
            print(f"Forja cannot start. {error}", file=sys.stderr)
            status = 1
        _leave(status)


def _leave(status: int) -> NoReturn:
    """End at once: nothing here is left to be saved, and taking Django apart takes a second of the five to stop in."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def say(line: str) -> None:
    """Print a line at once; a terminal that has gone is no reason to stop."""
    with contextlib.suppress(OSError, ValueError):
        print(line, flush=True)


def _greet(instance: Instance) -> list[str]:
    lines = greeting(home=instance.home, url=instance.url)
    leave_database()
    return lines


def greeting(*, home: Path, url: str) -> list[str]:
    """Give the lines that tell a person how to come in, with a fresh sign-in link."""
    admin = accounts.first_admin()
    token = accounts.create_sign_in_link(user=admin, reusable=True, minutes=LINK_MINUTES)
    path = keep_admin_token(home)
    return [
        "",
        "Forja is ready. Open this link to sign in (good for a day):",
        f"  {url}/sign-in/?token={token}",
        f"Programs: the API token of {admin.username} is in {path}",
        "Stop with Ctrl-C.",
    ]


def keep_admin_token(home: Path) -> Path:
    """Give the file with a token that works, making both when the file or the token is gone."""
    path = home / "admin-token"
    try:
        kept = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        kept = ""
    if not kept or accounts.user_of_token(kept) is None:
        write_whole(path, accounts.create_token(user=accounts.first_admin(), name="admin-token") + "\n")
    return path
