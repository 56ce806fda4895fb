"""What a card shows of a run, read from its rows: plain values for the templates, bounded in number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from runs import labels, lanes, queue
from runs.card_rows import VALUE_CHARS, calls_of, waits_of
from runs.faults import Line, Place, causes_of, place_of, positive, sentence_of
from runs.figures import arguments_words, figures, progress_view
from runs.highlight import highlighted, language_of, lines_of
from runs.json_tree import parse, tree
from runs.models import NestedCall, Run, Session, User
from runs.printed import Chunk, printed
from runs.visible import visible

CARD_CODE_LINES = 60
CARD_CALLS = 60
CARD_NODES = 200
PAGE_CODE_LINES = 5_000
PAGE_CALLS = 500
PAGE_NODES = 2_000


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """Who looks, and whether on the run's own page, where everything is shown and anchors are short."""

    user: User
    full: bool = False

    def may_act(self, session: Session) -> bool:
        return session.owner_id == self.user.pk


@dataclass(frozen=True, kw_only=True)
class CallView:
    call: NestedCall
    bar: lanes.Bar
    arguments: str

    @property
    def duration_ms(self) -> float | None:
        return self.call.duration_ms


@dataclass(frozen=True, kw_only=True)
class QueuePlace:
    position: int
    here: list[Run]
    elsewhere: int


@dataclass(kw_only=True)
class Card:
    """One run as one viewer sees it. Parts are read when a template asks for them."""

    run: Run
    viewer: Viewer
    now: datetime = field(default_factory=timezone.now)
    queued: dict[int, float] | None = None

    @property
    def key(self) -> str:
        """Prefix of the live fragments' ids."""
        return f"run-{self.run.id}"

    @property
    def anchor(self) -> str:
        """Prefix of what people link to: short on the run's own page."""
        return "" if self.viewer.full else f"run-{self.run.id}-"

    @property
    def seq(self) -> int:
        return self.run.last_seq

    @property
    def may_act(self) -> bool:
        return self.viewer.may_act(self.run.session)

    @property
    def is_live(self) -> bool:
        return not self.run.is_terminal

    @property
    def is_running(self) -> bool:
        return self.run.status == Run.Status.RUNNING

    @property
    def is_stopping(self) -> bool:
        return self.is_running and self.run.cancel_requested_at is not None

    @property
    def may_stop(self) -> bool:
        return self.is_live and self.may_act

    @property
    def title(self) -> str:
        return self.run.title or _("Untitled script")

    @property
    def asked_by(self) -> str:
        """Who asked, always said."""
        if self.run.door == Run.Door.PAGE and self.run.requested_by is not None:
            if self.run.requested_by_id == self.viewer.user.pk:
                return _("started by you")
            return _("started by %(name)s") % {"name": self.run.requested_by.username}
        return labels.word(labels.DOOR, self.run.door)

    @property
    def elapsed_ms(self) -> float | None:
        """How long it took, or has taken; None before it started."""
        if self.run.started_at is None:
            return None
        measured = self.run.metrics.get("durationMs")
        if self.run.is_terminal and isinstance(measured, (int, float)):
            return float(measured)
        end = self.run.finished_at or self.now
        return max(0.0, (end - self.run.started_at).total_seconds() * 1_000)

    @property
    def running_ms(self) -> float:
        return self.elapsed_ms or 0.0

    @property
    def elapsed_whole_ms(self) -> str:
        return str(int(self.running_ms))

    @property
    def confirmed_ms(self) -> float | None:
        """How long after the request the end was confirmed."""
        asked, ended = self.run.cancel_requested_at, self.run.finished_at
        return max(0.0, (ended - asked).total_seconds() * 1_000) if asked and ended else None

    # ── Queue, progress, calls ──────────────────────────────────────────────────────────────────

    @cached_property
    def queue(self) -> QueuePlace | None:
        if self.run.status != Run.Status.QUEUED:
            return None
        line = queue.line_up()
        numbers = [number for number, _session in line]
        if self.run.pk not in numbers:
            return None
        ahead = line[: numbers.index(self.run.pk)]
        mine = [number for number, session in ahead if session == self.run.session_id]
        before = Q(pk__in=mine[:2]) | Q(session=self.run.session, status="running")
        here = list(Run.objects.light().filter(before).order_by("number")[:3])
        return QueuePlace(position=len(ahead) + 1, here=here, elsewhere=len(ahead) - len(mine))

    @property
    def progress(self) -> dict[str, Any] | None:
        """`note`, and `completed` of `total` as whole thousandths for the bar when both are usable."""
        progress = self.run.progress
        return progress_view(progress) if isinstance(progress, dict) else None

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
        return [
            CallView(
                call=call,
                bar=lanes.bar_of(self.span_of(call), scale_ms=self.scale_ms, now_ms=self.running_ms),
                arguments=arguments_words(getattr(call, "arguments_start", None)),
            )
            for call in rows
        ]

    @property
    def calls_earlier(self) -> int:
        return max(0, self.run.calls_started - len(self.call_rows))

    @property
    def calls_at_once(self) -> int:
        return lanes.most_at_once(self.spans, now_ms=self.running_ms)

    @property
    def calls_stopped(self) -> int:
        run = self.run
        return max(0, run.calls_started - run.calls_finished - run.calls_refused) if run.is_terminal else 0

    @cached_property
    def overview(self) -> lanes.Overview | None:
        if self.is_live:
            return None
        return lanes.overview(self.spans)

    # ── Value, output ───────────────────────────────────────────────────────────────────────────

    @property
    def has_value(self) -> bool:
        return self.value_chars is not None

    @cached_property
    def value_chars(self) -> int | None:
        chars = getattr(self.run, "value_chars", None)
        return int(chars) if chars is not None else None

    @cached_property
    def value_tree(self) -> SafeString | None:
        """The value as folding HTML; None when it is too large to show here."""
        text = self.run.value_json if self.viewer.full else getattr(self.run, "value_start", None)
        if text is None or (not self.viewer.full and (self.value_chars or 0) > VALUE_CHARS):
            return None
        try:
            return tree(parse(text), lossy=self.run.lossy, max_nodes=PAGE_NODES if self.viewer.full else CARD_NODES)
        except (ValueError, RecursionError):
            return None

    @property
    def printed_chars(self) -> int:
        return self.run.stdout_chars + self.run.stderr_chars

    @cached_property
    def output(self) -> list[Chunk]:
        return printed(self.run)

    @property
    def output_shown(self) -> int:
        return sum(len(chunk.text) for chunk in self.output)

    # ── Code and error ──────────────────────────────────────────────────────────────────────────

    @property
    def language(self) -> str:
        return language_of(self.run.tool)

    @cached_property
    def code(self) -> str:
        return self.run.code if self.viewer.full else getattr(self.run, "code_start", "") or ""

    @cached_property
    def code_lines(self) -> list[Line]:
        most = PAGE_CODE_LINES if self.viewer.full else CARD_CODE_LINES
        at = self.error_line
        return [
            Line(number=number, html=html, is_at=number == at)
            for number, html in enumerate(highlighted(self.code, self.language)[:most], start=1)
        ]

    @property
    def has_code(self) -> bool:
        return bool(self.code)

    @property
    def code_is_cut(self) -> bool:
        chars = getattr(self.run, "code_chars", None) or len(self.code)
        return chars > len(self.code) or len(lines_of(self.code)) > len(self.code_lines)

    @property
    def error(self) -> dict[str, Any] | None:
        return self.run.error if isinstance(self.run.error, dict) else None

    @property
    def error_line(self) -> int | None:
        return positive(self.error, "line")

    @cached_property
    def place(self) -> Place | None:
        """The failing line among its neighbours, with a caret under the column."""
        return place_of(self.error, code=self.code, language=self.language)

    @property
    def causes(self) -> list[str]:
        return causes_of(self.error)

    @property
    def fault_message(self) -> str:
        return sentence_of(self.error)

    @property
    def stack(self) -> str:
        stack = (self.error or {}).get("stack")
        return "\n".join(map(str, stack[:100])) if isinstance(stack, list) else str(stack or "")[:20_000]

    @property
    def hint(self) -> str:
        return str((self.error or {}).get("hint") or self.run.hint or "")

    # ── The run's own page ──────────────────────────────────────────────────────────────────────

    @property
    def figures(self) -> list[tuple[str, str]]:
        return figures(self.run)

    @property
    def args_tree(self) -> SafeString:
        try:
            return tree(parse(self.run.args_json), lossy=[], max_nodes=PAGE_NODES)
        except (ValueError, RecursionError):
            return visible(self.run.args_json[:1_000])

    @property
    def controls(self) -> list[tuple[str, dict[str, Any]]]:
        rows = self.run.controls if isinstance(self.run.controls, dict) else {}
        return [(name, control) for name, control in rows.items() if isinstance(control, dict)]

    @property
    def controls_observed(self) -> bool:
        return any(control.get("observed") for _name, control in self.controls)
