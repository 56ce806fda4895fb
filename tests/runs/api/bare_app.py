"""A bare ASGI application under our server, for tests of the server alone: `python -m tests.runs.api.bare_app PORT`."""

from __future__ import annotations

import forja_site.server as server  # isort: skip

import asyncio
import sys
from typing import Any

DOWNLOAD_CHUNKS = 4_000
CHUNK = b"x" * 65_536


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    match scope["path"]:
        case "/download":
            await _start(send)
            for _ in range(DOWNLOAD_CHUNKS):
                await send({"type": "http.response.body", "body": CHUNK, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        case "/wait":
            await asyncio.sleep(300)
        case "/polite":
            try:
                await asyncio.sleep(300)
            except asyncio.CancelledError:
                await _start(send)
                await send({"type": "http.response.body", "body": b"not yet"})
        case "/fail":
            raise RuntimeError("on purpose")
        case _:
            size, more = 0, True
            while more:
                message = await receive()
                size, more = size + len(message.get("body", b"")), message.get("more_body", False)
            await _start(send)
            await send({"type": "http.response.body", "body": str(size).encode()})


async def _start(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


if __name__ == "__main__":
    sys.exit(server.main(application, host="127.0.0.1", port=int(sys.argv[1]), max_body_bytes=8 * 1024 * 1024))
