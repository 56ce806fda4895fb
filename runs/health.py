"""Whether this instance is well: its database, its broker, its workers. Asked without authentication."""

from __future__ import annotations

import asyncio
import functools
import logging
from datetime import timedelta
from typing import Any

import redis
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from runs.api.database import reading
from runs.api.replies import json_reply
from runs.models import Worker
from runs.recovery import SILENT_S, is_alive

ANSWER_S = 2

log = logging.getLogger(__name__)


@require_safe
async def health(request: HttpRequest) -> HttpResponse:
    """`ok`; `degraded` without a live worker (runs wait); `unavailable`, with 503, without database or broker."""
    workers, broker = await _answer_of(_count_workers), await _answer_of(_broker_answers)
    well = workers is not None and bool(broker)
    body: dict[str, Any] = {
        "status": "unavailable" if not well else "ok" if workers else "degraded",
        "version": settings.FORJA_VERSION,
        "database": "unavailable" if workers is None else "ok",
        "broker": "ok" if broker else "unavailable",
        "workers": workers or 0,
    }
    return json_reply(body, status=200 if well else 503)


async def _answer_of(question: Any) -> int | None:
    """What was answered within the time, or None: whatever went wrong is the answer to the question asked."""
    try:
        async with asyncio.timeout(ANSWER_S):
            return await reading(question)
    except Exception:
        log.warning("%s got no answer", question.__name__, exc_info=log.isEnabledFor(logging.DEBUG))
        return None


def _count_workers() -> int:
    """How many workers gave a sign of life of late and are still there."""
    since = timezone.now() - timedelta(seconds=SILENT_S)
    return sum(is_alive(worker) for worker in Worker.objects.filter(heartbeat_at__gte=since))


def _broker_answers() -> int:
    return int(_client(settings.REDIS_URL).ping())


@functools.cache
def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=ANSWER_S, socket_connect_timeout=ANSWER_S)
