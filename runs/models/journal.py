"""The journal of a run: its events in order, and its nested calls with what a replay needs."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from runs.models.fields import JSONTextField
from runs.models.run import Run


class RunEvent(models.Model):
    """One thing that happened; `seq` is gapless per run, `data` the event's own fields."""

    class Kind(models.TextChoices):
        QUEUED = "queued"
        APPROVAL_REQUESTED = "approval_requested"
        APPROVED = "approved"
        DENIED = "denied"
        STARTED = "started"
        OUTPUT = "output"
        PROGRESS = "progress"
        CALL_STARTED = "call_started"
        CALL_FINISHED = "call_finished"
        ARTIFACT_PUBLISHED = "artifact_published"
        CANCEL_REQUESTED = "cancel_requested"
        FINISHED = "finished"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    data = JSONTextField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_event_per_seq")]


class NestedCall(models.Model):
    """A tool call made by a script. Large arguments and results lie on disk under their hash."""

    class Status(models.TextChoices):
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        REFUSED = "refused"
        CANCELLED = "cancelled"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="calls")
    seq = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.RUNNING)
    started_at = models.DateTimeField(default=timezone.now)
    offset_ms = models.FloatField(default=0)
    duration_ms = models.FloatField(null=True)
    bytes = models.BigIntegerField(default=0)
    settled = models.PositiveIntegerField(null=True)
    clock_ms = models.BigIntegerField(null=True)
    late_at = models.DateTimeField(null=True)
    error = JSONTextField(null=True)
    arguments_sha256 = models.CharField(max_length=64, default="")
    arguments_json = models.TextField(null=True)
    result_sha256 = models.CharField(max_length=64, default="")
    result_json = models.TextField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_call_per_seq")]
