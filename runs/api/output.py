"""The whole stored text of a run, streamed at the reader's pace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Literal

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Router

from runs.api.callers import caller_of
from runs.api.database import reading
from runs.api.parameters import checked_id
from runs.api.schemas import ERRORS
from runs.output import output_parts, whole_text_path
from runs.services import run_for

CHUNK_BYTES = 64 * 1024
PLAIN = "text/plain; charset=utf-8"

_OPENAPI = {"responses": {200: {"description": "The text", "content": {"text/plain": {"schema": {"type": "string"}}}}}}

router = Router(tags=["runs"])


@router.get(
    "/runs/{run_id}/output", summary="Read the whole text that a run printed", response=ERRORS, openapi_extra=_OPENAPI
)
async def output(request: HttpRequest, run_id: str, stream: Literal["stdout", "stderr"] = "stdout") -> HttpResponseBase:
    """What the run printed: all that is stored, of a running one all so far."""

    def work() -> tuple[str, Path | None, str]:
        run = run_for(caller_of(request).user(), checked_id(run_id))
        path = whole_text_path(run, stream)
        return run.id, path, "" if path else output_parts(run, stream).text

    known_id, path, text = await reading(work)
    reply: HttpResponseBase
    if path is None:
        reply = HttpResponse(text.encode("utf-8", "replace"), content_type=PLAIN)
    else:
        reply = StreamingHttpResponse(_file(path), content_type=PLAIN)
    reply["Content-Disposition"] = f'inline; filename="{known_id}-{stream}.txt"'
    return reply


async def _file(path: Path) -> AsyncIterator[bytes]:
    """The file as it is now, a chunk at a time; the next is read when the last has been taken."""
    file: IO[bytes] = await asyncio.to_thread(path.open, "rb")
    try:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk
    finally:
        file.close()
