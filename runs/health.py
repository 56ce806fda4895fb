"""Whether this instance is well: its database, its broker, its workers. Asked without authentication."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Any

import redis.asyncio
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from runs.api.database import reading
from runs.api.replies import json_reply
from runs.models import Worker
from runs.recovery import SILENT_S, is_alive

ANSWER_S = 2

log = logging.getLogger(__name__)


async def health(request: HttpRequest) -> HttpResponse:
    """`ok`; `degraded` without a live worker (runs wait); `unavailable`, with 503, without database or broker."""
    workers, broker = await asyncio.gather(_live_workers(), _broker_answers())
    well = workers is not None and broker
    body: dict[str, Any] = {
        "status": "unavailable" if not well else "ok" if workers else "degraded",
        "version": settings.FORJA_VERSION,
        "database": "unavailable" if workers is None else "ok",
        "broker": "ok" if broker else "unavailable",
        "workers": workers or 0,
    }
    return json_reply(body, status=200 if well else 503)


async def _live_workers() -> int | None:
    """How many workers gave a sign of life of late; None when the database does not answer."""
    try:
        async with asyncio.timeout(ANSWER_S):
            return await reading(_count_workers)
    except Exception:
        log.warning("the database does not answer", exc_info=True)
        return None


async def _broker_answers() -> bool:
    try:
        async with asyncio.timeout(ANSWER_S):
            client = redis.asyncio.from_url(settings.REDIS_URL)
            try:
                return bool(await client.ping())
            finally:
                await client.aclose()
    except Exception:  # noqa: BLE001
        return False


def _count_workers() -> int:
    since = timezone.now() - timedelta(seconds=SILENT_S)
    return sum(is_alive(worker) for worker in Worker.objects.filter(heartbeat_at__gte=since))
