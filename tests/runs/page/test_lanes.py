"""When calls ran, as geometry."""

from __future__ import annotations

from runs.lanes import MAX_LANES, Span, bar_of, live_scale_ms, most_at_once, overview


def span(seq, start, end, status="succeeded"):
    return Span(seq=seq, status=status, start=start, end=end)


def test_the_live_scale_grows_in_steps():
    assert [live_scale_ms(ms) for ms in (0, 999, 1_000, 4_000, 29_000)] == [1_000, 1_000, 2_000, 5_000, 30_000]


def test_a_running_call_reaches_until_now():
    bar = bar_of(span(1, 200, None, "running"), scale_ms=1_000, now_ms=700)
    assert (bar.x, bar.width) == (200, 500)


def test_a_bar_stays_inside_its_lane_and_is_always_seen():
    assert bar_of(span(1, 0, 0.01), scale_ms=1_000, now_ms=0).width == 4
    late = bar_of(span(1, 5_000, 9_000), scale_ms=1_000, now_ms=0)
    assert late.x + late.width <= 1_000


def test_it_counts_how_many_ran_at_once():
    spans = [span(1, 0, 100), span(2, 50, 150), span(3, 100, 200), span(4, 60, 60, "refused")]
    assert most_at_once(spans, now_ms=200) == 2


def test_parallel_calls_lie_in_lanes_of_their_own():
    picture = overview([span(1, 0, 100), span(2, 0, 50), span(3, 60, 100)])
    assert picture is not None
    assert picture.lanes == 2
    assert picture.bars[2].y == picture.bars[1].y
    assert [tick.label for tick in picture.ticks] == ["0", "25 ms", "50 ms", "75 ms", "100 ms"]


def test_a_single_call_needs_no_picture():
    assert overview([span(1, 0, 100)]) is None


def test_the_picture_has_a_bounded_height():
    picture = overview([span(seq, 0, 100) for seq in range(500)])
    assert picture is not None
    assert picture.lanes == MAX_LANES
