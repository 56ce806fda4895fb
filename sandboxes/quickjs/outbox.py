"""What a script sends on its way out: bounded, joined into batches, never blocking for what is not needed.

A script can print in a tight loop. Output of one stream is joined; beyond the first few thousand messages each kind
has one place per batch, and only the latest step of progress is kept there. A batch leaves when it is large, when it
is old, or when the script waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from sandboxes.base import MAX_STORED_OUTPUT_BYTES
from sandboxes.quickjs.order import OP_CALL, OP_OUTPUT, OP_PROGRESS, Message
from sandboxes.quickjs.threads import TOOL_THREADS
from sandboxes.quickjs.watchdog import WATCHDOG

BATCH_BYTES = 32 * 1024
BATCH_SECONDS = 0.05
# A short script has flushed by itself before this.
SOON_SECONDS = 0.005
# So many messages keep their exact order among the streams.
KEPT_MESSAGES = 2000
# Of these, so many steps of progress are each kept.
KEPT_PROGRESS = 200

_STREAMS = (b"o", b"e")


class Outbox:
    """`put` only notes down; `deliver` gets the batches, one at a time, never from inside the VM.

    `flush` delivers in the caller's thread; a batch that became large or old meanwhile is delivered by another.
    """

    def __init__(self, *, deliver: Callable[[list[Message]], None]) -> None:
        self._deliver = deliver
        self._delivering = threading.Lock()
        self._lock = threading.Lock()
        self._batch: list[tuple[int, bytearray]] = []
        self._places: dict[bytes, int] = {}
        self._bytes = 0
        self._sent_at = 0.0
        self._is_due = False
        self._is_large = False
        self._messages = 0
        self._steps = 0
        self._printed = dict.fromkeys(_STREAMS, 0)
        self._failure: Exception | None = None

    def put(self, op: int, payload: bytes) -> None:
        with self._lock:
            if op == OP_OUTPUT:
                self._put_output(payload)
            elif op == OP_PROGRESS:
                self._put_progress(payload)
            elif op == OP_CALL:
                self._append(b"", OP_CALL, payload)
            if self._batch and not self._is_due:
                self._is_due = True
                now = time.monotonic()
                WATCHDOG.arm(max(now + SOON_SECONDS, self._sent_at + BATCH_SECONDS), self._flush_elsewhere)
            if self._bytes >= BATCH_BYTES and not self._is_large:
                self._is_large = True
                TOOL_THREADS.run(self._flush_quietly)

    def flush(self) -> None:
        """Deliver what there is, after what is being delivered; raises what `deliver` raised, here or elsewhere."""
        with self._delivering:
            with self._lock:
                batch, self._batch, self._bytes = self._batch, [], 0
                self._is_large = False
                self._places.clear()
                self._sent_at = time.monotonic()
            if batch:
                self._deliver([(op, bytes(payload)) for op, payload in batch])
        if self._failure is not None:
            raise self._failure

    def dropped(self) -> dict[str, float]:
        """Bytes that were printed beyond what is stored, by metric name."""
        over = {
            "droppedStdoutBytes": self._printed[b"o"] - MAX_STORED_OUTPUT_BYTES,
            "droppedStderrBytes": self._printed[b"e"] - MAX_STORED_OUTPUT_BYTES,
        }
        return {name: float(count) for name, count in over.items() if count > 0}

    def _put_output(self, payload: bytes) -> None:
        stream = payload[:1]
        if stream not in self._printed or len(payload) < 2:
            return
        before = self._printed[stream]
        self._printed[stream] = before + len(payload) - 1
        if before >= MAX_STORED_OUTPUT_BYTES:
            return
        kept = _whole_characters(payload, most=MAX_STORED_OUTPUT_BYTES - before + 1)
        place = self._place(stream, is_exact=self._messages < KEPT_MESSAGES)
        if place is None:
            self._append(stream, OP_OUTPUT, kept)
        else:
            self._batch[place][1].extend(memoryview(kept)[1:])
            self._bytes += len(kept) - 1

    def _put_progress(self, payload: bytes) -> None:
        self._steps += 1
        place = self._place(b"p", is_exact=False) if self._steps > KEPT_PROGRESS else None
        if place is None:
            self._append(b"p", OP_PROGRESS, payload)
        else:
            self._batch[place] = (OP_PROGRESS, bytearray(payload))

    def _place(self, kind: bytes, *, is_exact: bool) -> int | None:
        """Find where a message of this kind can join: the last of the batch, or any when order no longer counts."""
        place = self._places.get(kind)
        return place if place is not None and (not is_exact or place == len(self._batch) - 1) else None

    def _append(self, kind: bytes, op: int, payload: bytes) -> None:
        self._messages += 1
        self._places[kind] = len(self._batch)
        self._batch.append((op, bytearray(payload)))
        self._bytes += len(payload)

    def _flush_elsewhere(self) -> None:
        """Called by the watchdog, which has deadlines to keep."""
        with self._lock:
            self._is_due = False
            is_needed = bool(self._batch)
        if is_needed:
            TOOL_THREADS.run(self._flush_quietly)

    def _flush_quietly(self) -> None:
        try:
            self.flush()
        except Exception as error:  # noqa: BLE001 - the next flush of the script's own thread raises it
            self._failure = error


def _whole_characters(payload: bytes, *, most: int) -> bytes:
    """Cut to at most this many bytes without leaving half a character."""
    if len(payload) <= most:
        return payload
    while most > 0 and payload[most] & 0xC0 == 0x80:
        most -= 1
    return payload[:most]
