"""Who works on the queue, and the one row that serialises claims."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from runs.models.ids import new_id


class Worker(models.Model):
    """A worker process; a run belongs to the one that claimed it."""

    id = models.CharField(primary_key=True, max_length=40, default=new_id)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    boot = models.CharField(max_length=100)
    started_at = models.DateTimeField(default=timezone.now)
    heartbeat_at = models.DateTimeField(default=timezone.now)


class QueueLock(models.Model):
    """Locked while a claim is decided (PostgreSQL); SQLite serialises writers by itself."""
