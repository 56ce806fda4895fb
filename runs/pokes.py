"""Telling every web process that a run changed, and every worker that a run should stop, by the broker's pub/sub.

A poke carries no content: whoever receives one reads the rows. Losing one costs time, never data.
"""

from __future__ import annotations

import json
import logging
from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

CHANGES = "forja.changes"
STOPS = "forja.stops"
PATIENCE_S = 2

log = logging.getLogger(__name__)


@cache
def _client() -> redis.Redis:
    """The process's client; it keeps its connections and gives up soon, since a lost poke is bearable."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE_S,
        socket_connect_timeout=PATIENCE_S,
        retry=Retry(NoBackoff(), 1),
    )


def _publish(channel: str, message: dict[str, object]) -> None:
    try:
        _client().publish(channel, json.dumps(message))
    except redis.RedisError:
        log.warning("the broker does not answer; those who wait read again by themselves")


def poke(*, run_id: str, session_id: str, ended: bool = False) -> None:
    """Say that this run's rows changed."""
    _publish(CHANGES, {"run": run_id, "session": session_id, "ended": ended})


def poke_rights() -> None:
    """Say that somebody's rights changed: whoever waits, streams or holds a page open is asked for theirs again."""
    try:
        _client().publish(CHANGES, json.dumps({"rights": True}))
    except redis.RedisError:
        # From the command line, with nothing running, this is how it should be.
        log.info("the broker does not answer; open pages and waits ask for their rights again by themselves")


def ask_to_stop(run_id: str) -> None:
    """Ask whichever worker holds the run to stop it."""
    _publish(STOPS, {"run": run_id})
