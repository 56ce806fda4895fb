"""The nested calls of a card: a bounded list, and when each was at work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from runs import labels, lanes
from runs.card_head import CardHead
from runs.card_rows import calls_of, waits_of
from runs.figures import arguments_words
from runs.models import NestedCall
from runs.stored_words import words
from runs.visible import visible

CARD_CALLS = 60
PAGE_CALLS = 500


@dataclass(frozen=True, kw_only=True)
class CallView:
    """One line of the list, in words: a card has many of them, so templates only have to place these."""

    seq: int
    anchor: str
    status: str
    word: str
    tool: SafeString
    arguments: SafeString
    x: str
    width: str
    took: str
    size: str
    error: dict[str, Any] | None
    error_words: SafeString | str = ""


@dataclass(kw_only=True)
class CardCalls(CardHead):
    """What a card shows of its run's calls."""

    @cached_property
    def most_calls(self) -> int:
        return PAGE_CALLS if self.viewer.full else CARD_CALLS

    @cached_property
    def call_rows(self) -> Sequence[NestedCall]:
        return calls_of(self.run, most=self.most_calls) if self.run.calls_started else []

    @cached_property
    def queued_ms(self) -> dict[int, float]:
        """How long each ended call waited for one of the run's slots before it started."""
        if self.queued is None:
            self.queued = waits_of(self.run) if self.run.calls_started else {}
        return self.queued

    def span_of(self, call: NestedCall) -> lanes.Span:
        """When a call was at work. One that still waits or runs is drawn from when it was asked for."""
        start = call.offset_ms + self.queued_ms.get(call.seq, 0.0)
        is_open = call.status == NestedCall.Status.RUNNING and call.duration_ms is None
        return lanes.Span(
            seq=call.seq, status=call.status, start=start, end=None if is_open else start + (call.duration_ms or 0.0)
        )

    @property
    def spans(self) -> list[lanes.Span]:
        return [self.span_of(call) for call in self.call_rows]

    @cached_property
    def scale_ms(self) -> float:
        if self.is_live:
            return lanes.live_scale_ms(self.running_ms)
        return lanes.round_scale(self.spans)

    @property
    def calls(self) -> list[CallView]:
        return self.call_views(self.call_rows)

    def call_views(self, rows: Sequence[NestedCall]) -> list[CallView]:
        return [self._view(call) for call in rows]

    def _view(self, call: NestedCall) -> CallView:
        bar = lanes.bar_of(self.span_of(call), scale_ms=self.scale_ms, now_ms=self.running_ms)
        return CallView(
            seq=call.seq,
            anchor=f"{self.anchor}call-{call.seq}",
            status=call.status,
            word=labels.word(labels.CALL_STATUS, call.status),
            tool=visible(call.tool),
            arguments=visible(arguments_words(getattr(call, "arguments_start", None))),
            x=str(bar.x),
            width=str(bar.width),
            took=took_words(call),
            size=labels.size(call.bytes) if call.status == NestedCall.Status.SUCCEEDED else "",
            error=call.error if isinstance(call.error, dict) else None,
            error_words=self._error_words(call),
        )

    def _error_words(self, call: NestedCall) -> SafeString | str:
        """What went wrong with a call and what to do; of the one that ended the run only that it did."""
        if not isinstance(call.error, dict):
            return ""
        message, hint = (str(call.error.get(name) or "") for name in ("message", "hint"))
        ended = self.run.error if isinstance(self.run.error, dict) else {}
        if message and self.run.status == "failed" and str(ended.get("message")).endswith(message):
            return _("It ended the run: see Error.")
        told = [message] if hint in ("", message) else [message, hint]
        return format_html_join(" ", "{}", ((words(text),) for text in told))

    @property
    def calls_earlier(self) -> int:
        return max(0, self.run.calls_started - len(self.call_rows))

    @property
    def calls_at_once(self) -> int:
        return lanes.most_at_once(self.spans, now_ms=self.running_ms)

    @cached_property
    def calls_failed(self) -> int:
        return NestedCall.objects.filter(run=self.run, status="failed").count() if self.run.calls_finished else 0

    @property
    def calls_done(self) -> int:
        return max(0, self.run.calls_finished - self.calls_failed)

    @property
    def calls_stopped(self) -> int:
        run = self.run
        return max(0, run.calls_started - run.calls_finished - run.calls_refused) if run.is_terminal else 0

    @cached_property
    def overview(self) -> lanes.Overview | None:
        if self.is_live:
            return None
        return lanes.overview(self.spans)


def took_words(call: NestedCall) -> str:
    """How long a call took; what it says instead while it runs or when it never did."""
    if call.status == NestedCall.Status.REFUSED:
        return _("refused")
    if call.duration_ms is not None:
        return labels.duration(call.duration_ms)
    return "…" if call.status == NestedCall.Status.RUNNING else ""
