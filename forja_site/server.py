"""Daphne's server with three things added: a cap on bodies, back-pressure, and an end that comes.

Daphne writes a whole body to disk before the application, or its authentication, sees it, and takes
whatever an application sends into memory however slowly the client reads. Both are mended in Twisted's
own callbacks, which are the only place early enough.
"""

from __future__ import annotations

# Daphne installs its reactor when it is imported; it has to come before anything else of Twisted.
import daphne.server  # isort: skip

import asyncio
import json
import os
import signal
import sys
import threading
from io import BytesIO
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import HTTPFactory, WebRequest
from twisted.internet import defer
from twisted.internet import reactor as _reactor
from twisted.internet.interfaces import IPushProducer
from twisted.web.http import HTTPChannel, _GenericHTTPChannelProtocol
from zope.interface import implementer

from sandboxes.errors import ForjaError, Internal, InvalidInput, SourceTooLarge

reactor: Any = _reactor  # typed in Twisted as a module of interfaces
DRAIN_S = 5
"""How long a refused body is still read and thrown away, so that its sender gets to read the answer."""
STOP_S = 2
"""How long open waits and streams get to notice that the server stops."""
LAST_RESORT_S = 4


def error_bytes(error: ForjaError) -> bytes:
    return json.dumps({"error": error.as_dict()}, separators=(",", ":")).encode("ascii")


def raw_answer(status: str, error: ForjaError) -> bytes:
    """A whole HTTP answer in the error shape, for refusals made before there is a request to answer."""
    body = error_bytes(error)
    head = (f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close")
    return "\r\n".join((*head, "", "")).encode("ascii") + body


@implementer(IPushProducer)
class Request(WebRequest):
    """A request whose body is capped while it arrives and whose reply waits for a slow reader."""

    max_body_bytes = 8 * 1024 * 1024

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._body_bytes = 0
        self._refused = False
        self._drained: asyncio.Event | None = None

    # ── The body ────────────────────────────────────────────────────────────────────────────────

    def gotLength(self, length: int | None) -> None:
        if length is not None and length > self.max_body_bytes:
            self._refuse()
        else:
            super().gotLength(length)

    def handleContentChunk(self, data: bytes) -> None:
        self._body_bytes += len(data)
        if self._refused:
            return
        if self._body_bytes > self.max_body_bytes:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def _refuse(self) -> None:
        """Answer 413 at once; what still arrives is dropped, for a while."""
        self._refused = True
        self.content = BytesIO()
        # Else the channel would invite the body with `100 Continue` after our answer.
        self.requestHeaders.removeHeader(b"Expect")
        error = SourceTooLarge(f"The request body has more than {self.max_body_bytes:,} bytes.")
        self.channel.transport.write(raw_answer("413 Content Too Large", error))
        reactor.callLater(DRAIN_S, self._drop)

    def _drop(self) -> None:
        if self.channel is not None:
            self.channel.transport.abortConnection()

    def process(self) -> Any:
        if self._refused:
            self.channel.loseConnection()
            return None
        return super().process()

    # ── The reply ───────────────────────────────────────────────────────────────────────────────

    def handle_reply(self, message: dict[str, Any]) -> None:
        streams = message["type"] == "http.response.body" and message.get("more_body", False)
        if streams and self._drained is None and self.channel is not None and not self.finished:
            self._drained = asyncio.Event()
            self._drained.set()
            self.registerProducer(self, True)
        super().handle_reply(message)

    async def drained(self) -> None:
        """Return once the client has read enough of what was sent, or has gone."""
        if self._drained is not None:
            await self._drained.wait()

    def pauseProducing(self) -> None:
        if self._drained is not None:
            self._drained.clear()

    def resumeProducing(self) -> None:
        if self._drained is not None:
            self._drained.set()

    stopProducing = resumeProducing

    def finish(self) -> None:
        if self._drained is not None and self.producer is not None:
            self.unregisterProducer()
        super().finish()

    def connectionLost(self, reason: Any) -> None:
        self.resumeProducing()
        super().connectionLost(reason)

    # ── Refusals of Daphne's own ────────────────────────────────────────────────────────────────

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        if self._response_started:
            # Half a reply was sent: only a cut connection tells the client that it is not whole.
            self._drop()
            return
        error = (
            Internal("The server made an error; it is in its log.")
            if status >= 500
            else InvalidInput(f"{body}.", hint="Check the request line and the headers.")
        )
        headers = [(b"Content-Type", b"application/json")]
        self.handle_reply({"type": "http.response.start", "status": status, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": error_bytes(error)})


class Channel(HTTPChannel):
    """Twisted's parser, refusing what is no HTTP in the error shape."""

    transport: Any
    requestFactory = Request

    def _respondToBadRequestAndDisconnect(self) -> None:
        hint = "Check the request line and the headers; together they may have 16 KiB."
        error = InvalidInput("This is not a valid HTTP request.", hint=hint)
        self.transport.write(raw_answer("400 Bad Request", error))
        self.loseConnection()  # type: ignore[no-untyped-call]

    def lineLengthExceeded(self, line: bytes) -> None:
        self._respondToBadRequestAndDisconnect()


class Factory(HTTPFactory):
    """Builds the two classes above where Daphne builds its own."""

    def protocol(self) -> Any:
        return _GenericHTTPChannelProtocol(Channel())  # type: ignore[no-untyped-call]

    def buildProtocol(self, addr: Any) -> Any:
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = Request
        return protocol


class Server(daphne.server.Server):
    """Daphne's server over the request above."""

    failed_to_listen = False

    def run(self) -> None:
        # Daphne names its factory in `run`, with no hook to pass another.
        daphne.server.HTTPFactory = Factory
        super().run()

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        await super().handle_reply(protocol, message)
        if isinstance(protocol, Request):
            await protocol.drained()

    def listen_error(self, failure: Any) -> None:
        self.failed_to_listen = True
        print(f"Cannot listen: {failure.getErrorMessage()}", file=sys.stderr)
        self.stop()

    def kill_all_applications(self) -> Any:
        """End every open wait, stream and socket. Daphne's own stops at the first idle connection."""
        running = [details.get("application_instance") for details in self.connections.values()]
        open_ = [instance for instance in running if instance is not None and not instance.done()]
        for instance in open_:
            instance.cancel()
        if not open_:
            return None
        return defer.Deferred.fromFuture(asyncio.ensure_future(asyncio.wait(open_, timeout=STOP_S)))


def main(application: Any, *, host: str, port: int, max_body_bytes: int) -> int:
    """Serve until TERM or INT; gives the exit status. The end takes at most about four seconds."""
    Request.max_body_bytes = max_body_bytes
    server = Server(
        application=application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        signal_handlers=False,
        request_buffer_size=64 * 1024,
        application_close_timeout=2,
        server_name="forja",
        verbosity=0,
    )
    loop = daphne.server.twisted_loop
    for number in (signal.SIGTERM, signal.SIGINT):
        # Set by us, because both are ignored when a shell starts us in the background.
        loop.add_signal_handler(number, _stop, server)
    server.run()
    return 1 if server.failed_to_listen else 0


def _stop(server: Server) -> None:
    timer = threading.Timer(LAST_RESORT_S, os._exit, args=(0,))
    timer.daemon = True
    timer.start()
    server.stop()
