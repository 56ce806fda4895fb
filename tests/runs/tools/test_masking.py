"""What a failure may say: never a host path, never a secret."""

from __future__ import annotations

import time

import pytest

from runs.tools.masking import mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("[Errno 2] No such file or directory: '/srv/app/data.db'", "[Errno 2] No such file or directory: '<path>'"),
        ("open(/home/ana/.ssh/id_rsa) failed", "open(<path>) failed"),
        ("at C:\\Users\\ana\\x.txt now", "at <path> now"),
        ("file:///etc/passwd", "<path>"),
        ("token=abc123", "token=<secret>"),
        ('{"api_key": "zzz"}', '{"api_key": "<secret>"}'),
        ("Authorization: Bearer abc.def", "Authorization: Bearer <secret>"),
        ("PASSWORD: hunter2 wrong", "PASSWORD: <secret> wrong"),
        ("MY_SECRET=1", "MY_SECRET=<secret>"),
        ("key ghp_0123456789abcdefghij is bad", "key <secret> is bad"),
        ("redis://user:pw@localhost", "redis://<secret>@localhost"),
        ("9f86d081884c7d659a2feaa0c55ad015", "<secret>"),
        ("two\nlines", "two lines"),
        ("HTTP 404 for https://example.org/a/b", "HTTP 404 for https://example.org/a/b"),
        ("rows 1/2 and a/b.txt stay", "rows 1/2 and a/b.txt stay"),
    ],
)
def test_it_masks_paths_and_secrets_and_nothing_else(text, masked):
    assert mask(text) == masked


def test_it_stays_short_and_quick_whatever_it_is_given():
    started = time.monotonic()
    for text in ["a" * 5_000_000, "/" * 1_000_000, "a1-" * 1_000_000, "token" * 1_000_000, "https://" * 100_000]:
        assert len(mask(text)) <= 300
    assert time.monotonic() - started < 2
