"""When each nested call ran, as geometry: one lane per call while live, an overview once the run has ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.labels import duration

STEPS_S = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600)
MAX_LANES = 8
LANE_HEIGHT = 13


@dataclass(frozen=True, kw_only=True)
class Span:
    """A call's time from the run's start, in milliseconds; `end` is None while it runs."""

    seq: int
    status: str
    start: float
    end: float | None


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A rectangle in a view box of 1000 units."""

    x: int
    width: int
    y: int
    status: str


@dataclass(frozen=True, kw_only=True)
class Tick:
    """A line of the time axis; `at` in units of 1000."""

    at: int
    label: str
    anchor: str

    @property
    def percent(self) -> str:
        return str(self.at // 10)


@dataclass(frozen=True, kw_only=True)
class Overview:
    bars: list[Bar]
    ticks: list[Tick]
    height: int
    axis: int
    lanes: int
    most_at_once: int

    @property
    def label_y(self) -> int:
        return self.axis + 14


def live_scale_ms(elapsed_ms: float) -> int:
    """The live lanes' whole width: the next step above what has passed, so that bars seldom move."""
    return next((step * 1_000 for step in STEPS_S if step * 1_000 > elapsed_ms), STEPS_S[-1] * 1_000)


def bar_of(span: Span, *, scale_ms: float, now_ms: float, y: int = 0) -> Bar:
    """The rectangle of one call; at least 4 units wide, so that a quick one is still seen."""
    end = now_ms if span.end is None else span.end
    x = min(996, max(0, round(1000 * span.start / scale_ms)))
    width = max(4, round(1000 * (end - span.start) / scale_ms))
    return Bar(x=x, width=min(width, 1000 - x), y=y, status=span.status)


def most_at_once(spans: Sequence[Span], *, now_ms: float) -> int:
    """How many calls ran at the same moment at most."""
    moments = sorted(
        [(span.start, 1) for span in spans if span.status != "refused"]
        + [(now_ms if span.end is None else span.end, -1) for span in spans if span.status != "refused"]
    )
    running = most = 0
    for _, change in moments:
        running += change
        most = max(most, running)
    return most


def overview(spans: Sequence[Span]) -> Overview | None:
    """Pack the calls into lanes, first free lane first; None when a picture would say nothing."""
    if len(spans) < 2:
        return None
    scale = round_scale(spans)
    free: list[float] = []
    bars = []
    for span in sorted(spans, key=lambda span: (span.start, span.seq)):
        lane = next((index for index, end in enumerate(free) if end <= span.start), len(free))
        if lane == len(free) and lane < MAX_LANES:
            free.append(0.0)
        lane = min(lane, MAX_LANES - 1)
        end = span.end if span.end is not None else span.start
        free[lane] = max(free[lane], end)
        bars.append(bar_of(span, scale_ms=scale, now_ms=end, y=3 + LANE_HEIGHT * lane))
    axis = LANE_HEIGHT * len(free) + 4
    return Overview(
        bars=bars,
        ticks=_ticks(scale),
        height=axis + 20,
        axis=axis,
        lanes=len(free),
        most_at_once=most_at_once(spans, now_ms=scale),
    )


def round_scale(spans: Sequence[Span]) -> float:
    """The first round number of milliseconds that holds every span."""
    return _round_up(max((span.end or span.start for span in spans), default=1.0))


def _round_up(milliseconds: float) -> float:
    step = 1.0
    while step * 10 < milliseconds:
        step *= 10
    return next((step * factor for factor in (1, 2, 4, 8, 10) if step * factor >= milliseconds), step * 10)


def _ticks(scale: float) -> list[Tick]:
    anchors = ("start", "middle", "middle", "middle", "end")
    return [
        Tick(at=250 * index, label=duration(scale * index / 4) if index else "0", anchor=anchor)
        for index, anchor in enumerate(anchors)
    ]
