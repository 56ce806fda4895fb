"""The ASGI application: the API first, then the pages; sockets beside them."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forja_site.settings")

from django.core.asgi import get_asgi_application

site: Any = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import CookieMiddleware  # noqa: E402
from django.urls import path, re_path  # noqa: E402

from forja_site.origins import SameOriginOnly  # noqa: E402
from runs.api.application import ApiFirst  # noqa: E402
from runs.consumers import NoSuchPage, PageConsumer  # noqa: E402

sockets = URLRouter(
    [
        path("ws/<str:language>/sessions/<str:session_id>/", PageConsumer.as_asgi()),
        re_path("", NoSuchPage.as_asgi()),
    ]
)
application = ProtocolTypeRouter({"http": ApiFirst(site), "websocket": SameOriginOnly(CookieMiddleware(sockets))})
