#!/usr/bin/env python3
"""Entry point of every `manage.py` command; finds the environment that `make run` made by itself."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

ENVIRONMENT = Path(__file__).resolve().parent / ".venv"


def main() -> None:
    if find_spec("django") is None:
        use_own_environment()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forja_site.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Forja cannot start. {error}")


def use_own_environment() -> None:
    """Start over under the environment's Python, or say in one sentence how to make it."""
    python = ENVIRONMENT / "bin" / "python"
    if Path(sys.prefix) == ENVIRONMENT or not python.exists():
        sys.exit("Forja is not set up here yet: run `make setup` (or `make run`) first.")
    os.execv(python, [str(python), *sys.argv])


if __name__ == "__main__":
    main()
