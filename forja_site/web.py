"""The web process: `python -m forja_site.web [--host HOST] [--port PORT]`."""

from __future__ import annotations

import forja_site.server as server  # isort: skip  its reactor has to be the first

import argparse
import os
import sys


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forja_site.settings")
    from django.conf import settings

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default=settings.HOST)
    parser.add_argument("--port", type=int, default=settings.PORT)
    options = parser.parse_args()
    from forja_site.asgi import application
    from forja_site.memory import settle

    settle()
    return server.main(
        application, host=options.host, port=options.port, max_body_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    )


if __name__ == "__main__":
    sys.exit(main())
