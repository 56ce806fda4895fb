"""Sockets are opened by our own pages only: cookies travel with any page's socket, so its origin must be ours."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host


class SameOriginOnly:
    """Refuses a socket whose Origin is neither the host it asks for nor a trusted origin.

    Ports count too: another program on this machine shares the host's cookies, but not its port.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        headers = dict(scope.get("headers", ()))
        origin = headers.get(b"origin", b"").decode("latin-1")
        host = headers.get(b"host", b"").decode("latin-1")
        if is_allowed(origin=origin, host=host):
            return await self.application(scope, receive, send)
        return await WebsocketDenier()(scope, receive, send)


def is_allowed(*, origin: str, host: str) -> bool:
    """Whether a page of `origin` may open a socket to `host`."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != host.lower():
        return False
    return validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)
