"""Public ids: opaque, sortable by the time they were made, at most 40 characters."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_DIGITS = 10
_RANDOM_DIGITS = 12


def new_id() -> str:
    """Give a 22-character id: milliseconds first, then 60 random bits."""
    number = (time.time_ns() // 1_000_000 << (5 * _RANDOM_DIGITS)) | secrets.randbits(5 * _RANDOM_DIGITS)
    digits = [(number >> shift) & 31 for shift in range(5 * (_TIME_DIGITS + _RANDOM_DIGITS - 1), -1, -5)]
    return "".join(_ALPHABET[digit] for digit in digits)
