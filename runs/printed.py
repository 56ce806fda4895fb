"""What a run printed, in bounded pieces: the live pane's last ones, or each stream's head and tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runs.models import Run, RunEvent
from runs.output import output_parts

LIVE_CHUNKS = 40
CHUNK_CHARS = 4_000
SHOWN_CHARS = 12_000


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A piece of printed text: `key` is unique in its pane; `omitted` characters were left out before it."""

    stream: str
    text: str
    key: str = ""
    omitted: int = 0


def printed(run: Run) -> list[Chunk]:
    """In the order of printing while that is short or live, else each stream's head and tail."""
    if not run.is_terminal or run.stdout_chars + run.stderr_chars <= SHOWN_CHARS:
        return merged(live_chunks(run))
    return [*_ends(run, "stdout"), *_ends(run, "stderr")]


def live_chunks(run: Run) -> list[Chunk]:
    """The last printed pieces the row already counts, in order, each bounded.

    Later events are left for the next read: a page that has them twice would show them twice.
    """
    events = list(
        RunEvent.objects.filter(run=run, kind="output", seq__lte=run.last_seq).order_by("-seq")[: LIVE_CHUNKS + 1]
    )[::-1]
    chunks = [chunk_of(event) for event in events[-LIVE_CHUNKS:]]
    if len(events) > LIVE_CHUNKS and chunks:
        before = sum(len(chunk.text) + chunk.omitted for chunk in chunks)
        left_out = max(0, run.stdout_chars + run.stderr_chars - before)
        chunks[0] = replace(chunks[0], omitted=left_out)
    return chunks


def chunk_of(event: RunEvent) -> Chunk:
    text, omitted = str(event.data.get("text", "")), int(event.data.get("omitted", 0))
    return Chunk(
        stream="stderr" if event.data.get("stream") == "stderr" else "stdout",
        text=text[-CHUNK_CHARS:],
        key=str(event.seq),
        omitted=omitted + max(0, len(text) - CHUNK_CHARS),
    )


def merged(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Join neighbours of one stream, as long as nothing was left out between them."""
    joined: list[Chunk] = []
    for chunk in chunks:
        last = joined[-1] if joined else None
        room = last is not None and len(last.text) + len(chunk.text) <= CHUNK_CHARS
        if last is not None and room and last.stream == chunk.stream and not chunk.omitted:
            joined[-1] = replace(last, text=last.text + chunk.text, key=chunk.key)
        else:
            joined.append(chunk)
    return joined


def _ends(run: Run, stream: str) -> list[Chunk]:
    parts = output_parts(run, stream, budget=SHOWN_CHARS)
    head = [Chunk(stream=stream, text=parts.head)] if parts.head else []
    tail = [Chunk(stream=stream, text=parts.tail, omitted=parts.omitted)] if parts.tail or parts.omitted else []
    return head + tail
