"""What an open page has been shown, and the fragments that bring it up to date. Synchronous; only reads."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Q

from runs import card_rows, journal, queue, rendering, session_list
from runs.cards import CARD_CALLS, PAGE_CALLS, Card, Viewer
from runs.models import Run, RunEvent, Session
from runs.printed import LIVE_CHUNKS, chunk_of, last_pieces, merged

RAIL = 12
"""How many sessions the list beside the cards holds."""
RAIL_S = 6.0
"""How often other sessions' notes are read again: nothing wakes this page for them."""
MAX_TOLD_CARDS = 200
MAX_CARDS = 40
FRAME_CHUNKS = 10
MAX_EVENTS = 1_000
"""Further behind than this, a card is drawn anew instead of event by event."""
WHOLE_KINDS = frozenset({"started", "finished", "approval_requested", "approved", "denied", "cancel_requested"})


@dataclass(kw_only=True)
class Shown:
    """One card on the page: the last event it shows, and what its panes hold."""

    run_id: str
    seq: int = -1
    ended: bool = False
    scale_ms: float = 0.0
    first_call: int = 1
    last_call: int = 0
    has_progress: bool = False
    has_output: bool = False
    chunks: deque[tuple[str, bool]] = field(default_factory=deque)
    waits: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the browser says it holds: run ids with the last event each card shows, and which view it is."""

    view: str = "session"
    cards: Mapping[str, int] = field(default_factory=dict)


def read_told(message: object) -> Told | None:
    """Check the browser's first message; None when it is not one."""
    if not isinstance(message, dict) or message.get("view") not in ("session", "older", "run"):
        return None
    cards = message.get("cards")
    if not isinstance(cards, dict) or len(cards) > MAX_TOLD_CARDS:
        return None
    for run_id, seq in cards.items():
        if len(run_id) > 40 or isinstance(seq, bool) or not isinstance(seq, int) or not 0 <= seq < 2**31:
            return None
    return Told(view=message["view"], cards=cards)


class Page:
    """One open page of one session."""

    def __init__(self, *, viewer: Viewer, session: Session, told: Told) -> None:
        self.viewer, self.session, self.view = viewer, session, told.view
        self.cards: dict[int, Shown] = {}
        self._counts: dict[str, int] | None = None
        self._notes: dict[str, str] = {}
        self._rail_read_at = time.monotonic()
        self._queue: dict[int, str] = {}
        self._told = dict(told.cards)
        self._newest = 0

    # ── The first read, and every later one ─────────────────────────────────────────────────────

    def catch_up(self) -> str:
        """Bring a page that has just (re)connected up to date: only what it does not show yet is sent."""
        runs = {run.pk: run for run in self._runs_told()}
        pieces = []
        for number in sorted(runs):
            run, seq = runs[number], self._told.get(runs[number].id)
            if seq is None:
                pieces += self._add(run)
            elif run.is_terminal and seq == run.last_seq:
                self.cards[number] = Shown(run_id=run.id, seq=seq, ended=True)
            else:
                pieces.append(self._draw(run))
        self._newest = max(self.cards, default=self._newest)
        return rendering.joined([*pieces, *self._side(is_changed=True)])

    def _runs_told(self) -> list[Run]:
        ids = list(self._told)
        runs = list(card_rows.rows(self.session).filter(id__in=ids))
        if self.view != "session":
            return runs
        self._newest = max((run.pk for run in runs), default=0)
        missed = card_rows.rows(self.session).filter(number__gt=self._newest).exclude(id__in=ids)
        return runs + list(missed.order_by("-number")[:MAX_CARDS])

    def update(self) -> str:
        """Every fragment for what has happened since the last call; empty when nothing has."""
        behind, new = self._changed()
        pieces: list[str] = []
        runs = card_rows.rows(self.session).filter(number__in=behind + new).order_by("number") if behind or new else ()
        for run in runs:
            if run.pk in self.cards:
                pieces.append(self._follow(run))
            else:
                pieces += self._add(run)
                self._newest = run.pk
        pieces += self._side(is_changed=bool(behind or new))
        return rendering.joined(piece for piece in pieces if piece)

    def _changed(self) -> tuple[list[int], list[int]]:
        """The cards that are behind, and the runs that have none yet: one light query, mostly with no result."""
        runs = Run.objects.filter(session=self.session)
        wanted = Q(number__in=list(self.cards))
        if self.view == "session":
            wanted |= Q(number__gt=self._newest)
        seqs = dict(runs.filter(wanted).order_by("-number").values_list("number", "last_seq")[: 2 * MAX_TOLD_CARDS])
        behind = [number for number, shown in self.cards.items() if seqs.get(number, shown.seq) != shown.seq]
        return behind, sorted(number for number in seqs if number not in self.cards)[-MAX_CARDS:]

    # ── One card ────────────────────────────────────────────────────────────────────────────────

    def _card(self, run: Run) -> Card:
        return Card(run=run, viewer=self.viewer)

    def _add(self, run: Run) -> list[str]:
        """A new card on top; the oldest ended ones make room."""
        card = self._card(run)
        pieces: list[str] = [rendering.new_card(card)]
        self._remember(card)
        ended = sorted(number for number, shown in self.cards.items() if shown.ended)
        while len(self.cards) > MAX_CARDS and ended:
            number = ended.pop(0)
            pieces.append(rendering.without(f"run-{self.cards.pop(number).run_id}"))
        return pieces

    def _draw(self, run: Run) -> str:
        card = self._card(run)
        html = rendering.whole(card)
        self._remember(card)
        return html

    def _remember(self, card: Card) -> None:
        run = card.run
        chunks = deque((chunk.key, bool(chunk.omitted)) for chunk in card.output) if card.is_live else deque()
        rows = card.call_rows if card.is_live else []
        self.cards[run.pk] = Shown(
            run_id=run.id,
            seq=run.last_seq,
            ended=run.is_terminal,
            scale_ms=card.scale_ms if card.is_live else 0.0,
            first_call=rows[0].seq if rows else 1,
            last_call=rows[-1].seq if rows else 0,
            has_progress=card.progress is not None,
            has_output=bool(card.printed_chars),
            chunks=chunks,
            waits=card.queued_ms if card.is_live else {},
        )

    def _follow(self, run: Run) -> str:
        """The fragments for one card's new events, or the whole card where its frame changes."""
        shown = self.cards[run.pk]
        events = journal.events_after(run, shown.seq, MAX_EVENTS + 1)
        # The row was read before its events: only what the row already counts is drawn now, the rest next time.
        events = [event for event in events if event.seq <= run.last_seq]
        if run.is_terminal or len(events) > MAX_EVENTS or any(event.kind in WHOLE_KINDS for event in events):
            return self._draw(run)
        shown.waits |= card_rows.waits_in(events)
        card = Card(run=run, viewer=self.viewer, queued=shown.waits)
        kinds = {event.kind for event in events}
        pieces: list[str] = [rendering.time(card)]
        if "progress" in kinds:
            pieces.append(self._progress(card, shown))
        if "output" in kinds:
            pieces += self._output(card, shown, [event for event in events if event.kind == "output"])
        if kinds & {"call_started", "call_finished"}:
            pieces += self._calls(card, shown, events)
        shown.seq = run.last_seq
        return rendering.joined(pieces)

    def _progress(self, card: Card, shown: Shown) -> str:
        if shown.has_progress:
            return rendering.progress(card)
        shown.has_progress = True
        return rendering.slot(card, "progress")

    def _output(self, card: Card, shown: Shown, events: list[RunEvent]) -> list[str]:
        """New pieces at the end; what the pane cannot hold leaves at its top."""
        if not shown.has_output:
            shown.has_output = True
            shown.chunks = deque((chunk.key, bool(chunk.omitted)) for chunk in card.output)
            return [rendering.slot(card, "output")]
        chunks = merged([chunk_of(event) for event in events])
        total = sum(len(chunk.text) + chunk.omitted for chunk in chunks)
        chunks = last_pieces(chunks, total=total, most=FRAME_CHUNKS)
        shown.chunks.extend((chunk.key, bool(chunk.omitted)) for chunk in chunks)
        pieces: list[str] = [rendering.output_added(card, chunks), rendering.printed_count(card)]
        while len(shown.chunks) > LIVE_CHUNKS:
            key, has_gap = shown.chunks.popleft()
            pieces.append(rendering.without(f"{card.key}-out-{key}"))
            if has_gap:
                pieces.append(rendering.without(f"{card.key}-gap-{key}"))
        return pieces

    def _calls(self, card: Card, shown: Shown, events: list[RunEvent]) -> list[str]:
        most = PAGE_CALLS if self.viewer.full else CARD_CALLS
        if shown.last_call == 0:
            self._hold_calls(card, shown)
            return [rendering.slot(card, "calls")]
        newest = max([event.data["call"] for event in events if event.kind == "call_started"], default=shown.last_call)
        if card.scale_ms != shown.scale_ms or newest - shown.first_call >= 2 * most:
            self._hold_calls(card, shown)
            return [rendering.calls_list(card), rendering.calls_count(card)]
        changed = sorted({event.data["call"] for event in events if event.kind in ("call_started", "call_finished")})
        views = card.call_views(card_rows.calls_of(card.run, most=most, seqs=changed))
        pieces = [
            rendering.call_changed(card, view) for view in views if shown.first_call <= view.seq <= shown.last_call
        ]
        added = [view for view in views if view.seq > shown.last_call]
        if added:
            pieces.append(rendering.calls_added(card, added))
            shown.last_call = added[-1].seq
        return [*pieces, rendering.calls_count(card)]

    def _hold_calls(self, card: Card, shown: Shown) -> None:
        rows = card.call_rows
        shown.scale_ms = card.scale_ms
        shown.first_call, shown.last_call = (rows[0].seq, rows[-1].seq) if rows else (1, 0)

    # ── Beside the cards ────────────────────────────────────────────────────────────────────────

    def _side(self, *, is_changed: bool) -> list[str]:
        """Counts, the list of sessions and places in line, where they changed."""
        pieces: list[str] = []
        counts = queue.counts(self.session)
        is_changed = is_changed or counts != self._counts
        # A run's own page has neither counts nor a list of sessions.
        if self.view != "run":
            pieces += [rendering.counts_html(counts)] if counts != self._counts else []
            pieces += self._rail(is_changed=is_changed)
        self._counts = counts
        waiting = [number for number, shown in self.cards.items() if not shown.ended]
        if counts["queued"] and waiting:
            line = queue.line_up()
            for run in card_rows.rows(self.session).filter(number__in=waiting, status="queued"):
                pieces += self._place(Card(run=run, viewer=self.viewer, line=line))
        return pieces

    def _rail(self, *, is_changed: bool) -> list[str]:
        """The notes of the list that read otherwise now: at a change this session's, and all of them now and then.

        A run that starts and ends between two looks changes no count: what a note says is compared, not why it might.
        """
        if time.monotonic() - self._rail_read_at >= RAIL_S:
            self._rail_read_at = time.monotonic()
            entries = session_list.rail(self.viewer.user, self.session, most=RAIL)
        elif is_changed:
            entries = session_list.entries(Session.objects.filter(pk=self.session.pk))
        else:
            return []
        notes: dict[str, str] = {entry.id: rendering.rail_note(entry) for entry in entries}
        changed = [note for session, note in notes.items() if self._notes.get(session) != note]
        self._notes |= notes
        return changed

    def _place(self, card: Card) -> list[str]:
        if card.queue is None:
            return []
        html = rendering.queue(card)
        if self._queue.get(card.run.pk) == html:
            return []
        self._queue[card.run.pk] = html
        return [html]
