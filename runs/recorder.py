"""Gathers what a running script does and writes it to the journal in batches, in order."""

from __future__ import annotations

import threading
import time
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from runs import blobs, journal
from runs.journal import Entry
from runs.models import NestedCall, Run
from runs.requests import storable
from runs.streams import StreamStore
from runs.writing import write
from sandboxes.base import CallFinished, CallStarted, Event, Output, Progress

FULL_TEXT_CHARS = 256 * 1024
"""Printed text that goes into the journal whole; after that each batch keeps its last part."""
LATER_TEXT_CHARS = 2_000
CHUNK_CHARS = 16_000
PREVIEW_CHARS = 2_000
NOTE_CHARS = 500


class Recorder:
    """The journal of one run while it runs. `take` is quick; `flush` writes; both may come from any thread."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._lock = threading.RLock()
        self._entries: list[Entry] = []
        self._dirty_since = 0.0
        self._printing: str | None = None
        self._printed: list[str] = []
        self._calls: dict[int, NestedCall] = {}
        self._unsaved: set[int] = set()
        self._saved: set[int] = set()
        self._started = time.monotonic()
        self._settled = 0
        self._progress: dict[str, Any] | None = None
        self.streams = {name: StreamStore(run_id=run.id, stream=name) for name in ("stdout", "stderr")}
        self.started = self.finished = self.refused = 0
        self.bytes_through_calls = 0
        self._is_announced = False

    # ── Taking ──────────────────────────────────────────────────────────────────────────────────

    def take(self, event: Event) -> None:
        with self._lock:
            self._dirty_since = self._dirty_since or time.monotonic()
            match event:
                case Output():
                    self._take_output(event)
                case Progress():
                    self._take_progress(event)
                case CallStarted():
                    self._take_call_started(event)
                case CallFinished():
                    self._take_call_finished(event)

    def _take_output(self, event: Output) -> None:
        if self._printing != event.stream:
            # What the other stream printed comes first: the journal keeps the order.
            self._close_output()
            self._printing = event.stream
        text = storable(event.text)
        self._printed.append(text)
        self.streams[event.stream].write(text)

    def _close_output(self) -> None:
        stream, text = self._printing, "".join(self._printed)
        self._printing, self._printed = None, []
        if stream is None or not text:
            return
        offset = self.streams[stream].chars - len(text)
        if sum(store.chars for store in self.streams.values()) <= FULL_TEXT_CHARS:
            for start in range(0, len(text), CHUNK_CHARS):
                part = text[start : start + CHUNK_CHARS]
                self._entries.append(Entry(kind="output", data=_output(stream, part, offset + start, 0)))
            return
        part = text[-LATER_TEXT_CHARS:]
        omitted = len(text) - len(part)
        self._entries.append(Entry(kind="output", data=_output(stream, part, offset + omitted, omitted)))

    def _take_progress(self, event: Progress) -> None:
        note = storable(event.note)[:NOTE_CHARS] if event.note is not None else None
        self._progress = {"note": note, "completed": event.completed, "total": event.total}
        self._close_output()
        last = self._entries[-1] if self._entries else None
        if last is not None and last.kind == "progress":
            self._entries[-1] = Entry(kind="progress", data=self._progress)
        else:
            self._entries.append(Entry(kind="progress", data=self._progress))

    def _take_call_started(self, event: CallStarted) -> None:
        self._close_output()
        self.started += 1
        offset_ms = self._elapsed_ms()
        sha256, inline = blobs.keep(event.arguments_json)
        tool = storable(event.tool)[:200]
        self._calls[event.seq] = NestedCall(
            run=self.run,
            seq=event.seq,
            tool=tool,
            started_at=timezone.now(),
            offset_ms=offset_ms,
            arguments_sha256=sha256,
            arguments_json=inline,
        )
        self._unsaved.add(event.seq)
        data = {"call": event.seq, "tool": tool, "args": event.arguments_json[:PREVIEW_CHARS], "offsetMs": offset_ms}
        if len(event.arguments_json) > PREVIEW_CHARS:
            data["argsBytes"] = len(event.arguments_json.encode("utf-8", "replace"))
        self._entries.append(Entry(kind="call_started", data=data))

    def _take_call_finished(self, event: CallFinished) -> None:
        self._close_output()
        call = self._calls[event.seq]
        self._settled += 1
        call.status, call.settled, call.clock_ms = event.status, self._settled, event.clock_ms
        call.duration_ms, call.error = event.duration_ms, _bounded_error(event.error)
        if event.result_json is not None:
            call.result_sha256, call.result_json = blobs.keep(event.result_json)
            call.bytes = len(event.result_json)
            self.bytes_through_calls += call.bytes
        self.refused += event.status == "refused"
        self.finished += event.status in ("succeeded", "failed")
        self._unsaved.add(event.seq)
        data: dict[str, Any] = {"call": event.seq, "status": event.status, "clockMs": event.clock_ms}
        data |= {"bytes": call.bytes} if event.result_json is not None else {}
        data |= {"durationMs": event.duration_ms} if event.duration_ms is not None else {}
        data |= {"queuedMs": event.queued_ms} if event.queued_ms is not None else {}
        data |= {"error": call.error} if call.error else {}
        self._entries.append(Entry(kind="call_finished", data=data))

    def _elapsed_ms(self) -> float:
        return round((time.monotonic() - self._started) * 1000, 3)

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────

    def is_due(self, *, now: float, age_s: float) -> bool:
        return bool(self._dirty_since) and now - self._dirty_since >= age_s

    def take_first_poke(self, *, now: float, age_s: float) -> bool:
        """Whether pages should be told that this run started: once, and only if it did not end at once."""
        if self._is_announced or now - self._started < age_s:
            return False
        self._is_announced = True
        return True

    def flush(self) -> bool:
        """Write what was taken; False when the run is no longer ours to write to."""
        with self._lock:
            if not self._dirty_since:
                return True
            entries, unsaved = self._take_entries(), set(self._unsaved)
            try:
                with write():
                    written = journal.append(self.run, entries, only_if=["running"], **self.row_changes())
                    if written:
                        self._save_calls()
                self._saved |= unsaved
            except DatabaseError:
                self._put_back(entries, unsaved)
                raise
            for store in self.streams.values():
                store.flush()
            return written

    def _put_back(self, entries: list[Entry], unsaved: set[int]) -> None:
        """Keep what a database error did not take, for the next attempt."""
        self._entries = entries + self._entries
        self._unsaved |= unsaved
        self._dirty_since = time.monotonic()
        for seq in unsaved - self._saved:
            self._calls[seq].pk = None

    def finish(self, write: Any) -> None:
        """Call `write(entries)` with what is left, inside the lock, so that nothing is written after it.

        A database error passes through; everything is then kept for the next attempt.
        """
        with self._lock:
            entries, unsaved = self._take_entries(), set(self._unsaved)
            for store in self.streams.values():
                store.close()
            try:
                write(entries)
            except DatabaseError:
                self._put_back(entries, unsaved)
                raise

    def _take_entries(self) -> list[Entry]:
        self._close_output()
        entries, self._entries, self._dirty_since = self._entries, [], 0.0
        return entries

    def row_changes(self) -> dict[str, Any]:
        """The light columns that follow what was taken."""
        changes: dict[str, Any] = {
            "calls_started": self.started,
            "calls_finished": self.finished,
            "calls_refused": self.refused,
            "stdout_chars": self.streams["stdout"].chars,
            "stderr_chars": self.streams["stderr"].chars,
        }
        return changes | ({"progress": self._progress} if self._progress is not None else {})

    def save_calls(self) -> None:
        with self._lock:
            self._save_calls()

    def _save_calls(self) -> None:
        calls = [self._calls[seq] for seq in sorted(self._unsaved)]
        self._unsaved.clear()
        new = [call for call in calls if call.pk is None]
        old = [call for call in calls if call.pk is not None]
        if new:
            NestedCall.objects.bulk_create(new)
        if old:
            fields = ["status", "settled", "clock_ms", "duration_ms", "error", "bytes", "result_sha256", "result_json"]
            NestedCall.objects.bulk_update(old, fields, batch_size=100)

    def note_late(self, seq: int) -> None:
        """A tool answered after its run had stopped waiting: remember when, change nothing else."""
        NestedCall.objects.filter(run=self.run, seq=seq).update(late_at=timezone.now())


def _output(stream: str, text: str, offset: int, omitted: int) -> dict[str, Any]:
    data: dict[str, Any] = {"stream": stream, "text": text, "offset": offset}
    return data | ({"omitted": omitted} if omitted else {})


def _bounded_error(error: dict[str, Any] | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {key: storable(str(value))[:PREVIEW_CHARS] for key, value in error.items() if value is not None}
