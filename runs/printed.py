"""What a run printed, in bounded pieces: the live pane's last ones, or each stream's head and tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runs.models import Run, RunEvent
from runs.output import output_parts

LIVE_CHUNKS = 40
READ_EVENTS = 200
MAX_EVENTS = 1_000
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
    total = run.stdout_chars + run.stderr_chars
    if not run.is_terminal:
        return last_pieces(merged(_pieces(run, READ_EVENTS)), total=total)
    if total <= SHOWN_CHARS:
        chunks = merged(_pieces(run, MAX_EVENTS))
        if sum(len(chunk.text) for chunk in chunks) == total:
            return chunks
    return [*_ends(run, "stdout"), *_ends(run, "stderr")]


def _pieces(run: Run, most: int) -> list[Chunk]:
    """The last pieces that the row already counts, in order.

    Later events are left for the next read: a page that has them twice would show them twice.
    """
    events = RunEvent.objects.filter(run=run, kind="output", seq__lte=run.last_seq).order_by("-seq")[:most]
    return [chunk_of(event) for event in reversed(events)]


def last_pieces(chunks: list[Chunk], *, total: int, most: int = LIVE_CHUNKS) -> list[Chunk]:
    """What a live pane holds of `total` characters: the end, saying how much was left out before it."""
    kept = chunks[-most:]
    left_out = total - sum(len(chunk.text) + chunk.omitted for chunk in kept)
    if kept and left_out > 0:
        kept[0] = replace(kept[0], omitted=kept[0].omitted + left_out)
    return kept


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
