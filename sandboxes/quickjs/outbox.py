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
from sandboxes.quickjs.watchdog import WATCHDOG

BATCH_BYTES = 32 * 1024
BATCH_SECONDS = 0.05
# So many messages keep their exact order among the streams.
KEPT_MESSAGES = 2000
# Of these, so many steps of progress are each kept.
KEPT_PROGRESS = 200

_STREAMS = (b"o", b"e")


class Outbox:
    """Takes messages in the script's thread; `deliver` gets batches, one at a time."""

    def __init__(self, *, deliver: Callable[[list[Message]], None]) -> None:
        self._deliver = deliver
        self._lock = threading.Lock()
        self._batch: list[tuple[int, bytearray]] = []
        self._places: dict[bytes, int] = {}
        self._bytes = 0
        self._sent_at = 0.0
        self._is_armed = False
        self._messages = 0
        self._steps = 0
        self._printed = dict.fromkeys(_STREAMS, 0)

    def put(self, op: int, payload: bytes) -> None:
        with self._lock:
            if op == OP_OUTPUT:
                self._put_output(payload)
            elif op == OP_PROGRESS:
                self._put_progress(payload)
            elif op == OP_CALL:
                self._append(b"", OP_CALL, payload)
            if self._bytes >= BATCH_BYTES or time.monotonic() - self._sent_at > BATCH_SECONDS:
                self._send()
            elif self._batch and not self._is_armed:
                self._is_armed = True
                WATCHDOG.arm(self._sent_at + BATCH_SECONDS, self._late)

    def flush(self) -> None:
        if self._batch:
            with self._lock:
                self._send()

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

    def _late(self) -> None:
        if not self._lock.acquire(blocking=False):
            # The script's thread is sending; the watchdog has deadlines to keep and cannot wait for it.
            WATCHDOG.arm(time.monotonic() + BATCH_SECONDS, self._late)
            return
        try:
            self._is_armed = False
            self._send()
        finally:
            self._lock.release()

    def _send(self) -> None:
        self._sent_at = time.monotonic()
        if not self._batch:
            return
        batch, self._batch, self._bytes = self._batch, [], 0
        self._places.clear()
        self._deliver([(op, bytes(payload)) for op, payload in batch])


def _whole_characters(payload: bytes, *, most: int) -> bytes:
    """Cut to at most this many bytes without leaving half a character."""
    if len(payload) <= most:
        return payload
    while most > 0 and payload[most] & 0xC0 == 0x80:
        most -= 1
    return payload[:most]
