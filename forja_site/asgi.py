"""The ASGI application: the API first, then the pages; sockets beside them."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forja_site.settings")

from django.core.asgi import get_asgi_application  # noqa: E402

site = get_asgi_application()

from channels.routing import ProtocolTypeRouter  # noqa: E402

from runs.api.application import ApiFirst  # noqa: E402

application = ProtocolTypeRouter({"http": ApiFirst(site)})
