"""The known key that a wrong one was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_KEY_CHARS = 200


def nearest_key(key: str, known: Iterable[str]) -> str:
    """Give the nearest of the `known` keys, or an empty text when none is near.

    Wrong case comes first, then wrong nesting (the same last part, or the same tail), then a slip of the pen.
    """
    if len(key) > MAX_KEY_CHARS:
        return ""
    wanted = key.lower()
    lowered = {candidate.lower(): candidate for candidate in known}
    if wanted in lowered:
        return lowered[wanted]
    return _by_tail(wanted, lowered) or _by_spelling(wanted, lowered)


def _by_tail(wanted: str, lowered: dict[str, str]) -> str:
    tail = wanted.rsplit(".", 1)[-1]
    same = [candidate for candidate in lowered if candidate.rsplit(".", 1)[-1] == tail]
    best = max(same, key=lambda candidate: _likeness(wanted, candidate), default="")
    return lowered.get(best, "")


def _by_spelling(wanted: str, lowered: dict[str, str]) -> str:
    best = difflib.get_close_matches(wanted, lowered, n=1, cutoff=0.6)
    if not best and "." not in wanted:
        tails = {candidate.rsplit(".", 1)[-1]: candidate for candidate in reversed(lowered)}
        best = [tails[tail] for tail in difflib.get_close_matches(wanted, tails, n=1, cutoff=0.75)]
    return lowered[best[0]] if best else ""


def _likeness(wanted: str, candidate: str) -> float:
    return difflib.SequenceMatcher(a=wanted, b=candidate).ratio()
