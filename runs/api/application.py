"""The ASGI application in front of the site: it answers /api and /health on a short path of its own.

The site's middleware (sessions, language, CSRF, static files) is for pages; here each of its steps
costs a thread hop per request, and its refusals are HTML. What it would do for an API is done here:
host check, body cap, one error shape, security headers.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import get_resolver

from runs.api.database import reading
from runs.api.errors import error_reply
from runs.api.stopping import SCOPE_KEY, Stopping
from sandboxes.errors import NotFound, SourceTooLarge

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

LAST_WORDS_S = 1.5
"""How long a request gets to answer once the server stops; less than the server itself waits for it."""

_COMMON_HEADERS = [
    (b"X-Content-Type-Options", b"nosniff"),
    (b"Cache-Control", b"no-store"),
    (b"Referrer-Policy", b"no-referrer"),
]
_CSP = b"default-src 'none'; frame-ancestors 'none'; sandbox"


def is_api_path(path: str) -> bool:
    return path in ("/api", "/health") or path.startswith(("/api/", "/health/"))


class ApiFirst:
    """Serve the API's paths, and hand everything else to `site`."""

    def __init__(self, site: Asgi) -> None:
        self._site = site

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_api_path(scope["path"]):
            await self._site(scope, receive, send)
            return
        body = await _read_body(receive)
        if body is not None:
            stopping = Stopping()
            await _until_gone(receive, _serve({**scope, SCOPE_KEY: stopping}, body, send), stopping)


async def _read_body(receive: Receive) -> bytes | SourceTooLarge | None:
    """The whole body; None when the client left, the error when it is larger than any legal request."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            return SourceTooLarge(f"The request body has more than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes.")
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


async def _until_gone(receive: Receive, serving: Any, stopping: Stopping) -> None:
    """Serve, but stop as soon as the client has gone: nobody reads the rest of a wait or a stream.

    The server cancels this when it stops: a request then gets a moment to answer what it has.
    """
    tasks = [asyncio.ensure_future(serving), asyncio.ensure_future(_gone(receive))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        stopping.begin()
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED, timeout=LAST_WORDS_S)
        raise
    finally:
        for task in tasks:
            task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await tasks[0]


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _serve(scope: MutableMapping[str, Any], body: bytes | SourceTooLarge, send: Send) -> None:
    reply = await _answer(scope, body)
    try:
        await _send_reply(reply, send, head_only=scope["method"] == "HEAD")
    finally:
        reply.close()


async def _answer(scope: MutableMapping[str, Any], body: bytes | SourceTooLarge) -> HttpResponseBase:
    try:
        if isinstance(body, SourceTooLarge):
            raise body
        request = ASGIRequest(scope, BytesIO(body))
        request.get_host()
        if request.method == "HEAD":
            request.method = "GET"
        match = get_resolver().resolve(request.path_info)
        request.resolver_match = match
        return _in_shape(request, await _call(match.func, request, *match.args, **match.kwargs))
    except Exception as error:  # noqa: BLE001  the last door: whatever it is, it leaves in one shape
        return error_reply(error)


async def _call(view: Callable[..., Any], request: ASGIRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    if inspect.iscoroutinefunction(view):
        reply = await view(request, *args, **kwargs)
    else:
        reply = await reading(lambda: view(request, *args, **kwargs))
    assert isinstance(reply, HttpResponseBase)
    return reply


def _in_shape(request: ASGIRequest, reply: HttpResponseBase) -> HttpResponseBase:
    """A method that a path does not know is told as NOT_FOUND: the contract's list has no status 405."""
    if reply.status_code != 405:
        return reply
    allowed = reply.get("Allow", "")
    shaped = error_reply(
        NotFound(f"{str(request.method)[:20]} is not possible here.", hint=f"This path answers {allowed}.")
    )
    shaped["Allow"] = allowed
    return shaped


async def _send_reply(reply: HttpResponseBase, send: Send, *, head_only: bool) -> None:
    await send({"type": "http.response.start", "status": reply.status_code, "headers": _headers(reply)})
    if head_only:
        await send({"type": "http.response.body", "body": b""})
    elif isinstance(reply, HttpResponse):
        await send({"type": "http.response.body", "body": reply.content})
    elif isinstance(reply, StreamingHttpResponse):
        async for part in reply:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _headers(reply: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in reply.items()]
    headers += [(b"Set-Cookie", morsel.OutputString().encode("latin-1")) for morsel in reply.cookies.values()]
    headers += _COMMON_HEADERS
    if not reply.has_header("Content-Security-Policy"):
        headers.append((b"Content-Security-Policy", _CSP))
    if isinstance(reply, HttpResponse) and reply.status_code != 204:
        headers.append((b"Content-Length", str(len(reply.content)).encode()))
    return headers
