"""A run: one execution from request to its one terminal status. Light columns first, payloads last."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from runs.models.accounts import User
from runs.models.fields import JSONTextField
from runs.models.ids import new_id
from runs.models.session import Session

PAYLOAD_FIELDS = (
    "code",
    "args_json",
    "value_json",
    "lossy",
    "stdout_head",
    "stdout_tail",
    "stderr_head",
    "stderr_tail",
    "state_before",
    "state_after",
)


class RunQuerySet(models.QuerySet["Run"]):
    def light(self) -> RunQuerySet:
        """Without the payloads: what lists read."""
        return self.defer(*PAYLOAD_FIELDS)

    def visible_to(self, user: User) -> RunQuerySet:
        return self if user.reads_all else self.filter(session__owner=user)

    def active(self) -> RunQuerySet:
        return self.filter(status__in=Run.ACTIVE)


class Run(models.Model):
    class Status(models.TextChoices):
        QUEUED = "queued"
        AWAITING_APPROVAL = "awaiting_approval"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        TIMED_OUT = "timed_out"
        INTERRUPTED = "interrupted"
        DENIED = "denied"

    ACTIVE = (Status.QUEUED, Status.AWAITING_APPROVAL, Status.RUNNING)
    TERMINAL = frozenset(
        {
            Status.SUCCEEDED,
            Status.FAILED,
            Status.CANCELLED,
            Status.TIMED_OUT,
            Status.INTERRUPTED,
            Status.DENIED,
        }
    )

    class Door(models.TextChoices):
        """Where the request came in."""

        PAGE = "page"
        API = "api"
        MCP = "mcp"
        CLI = "cli"

    number = models.BigAutoField(primary_key=True)
    id = models.CharField(max_length=40, unique=True, default=new_id)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="runs")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    door = models.CharField(max_length=8, choices=Door.choices)
    tool = models.CharField(max_length=64)
    title = models.CharField(max_length=200, default="")
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.QUEUED)
    error_code = models.CharField(max_length=40, default="")
    limit_hit = models.CharField(max_length=40, default="")
    backend = models.CharField(max_length=16, default="")
    isolation = models.CharField(max_length=16, default="")
    reason = models.CharField(max_length=300, default="")
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    worker = models.CharField(max_length=40, default="")
    last_seq = models.PositiveIntegerField(default=0)
    calls_started = models.PositiveIntegerField(default=0)
    calls_finished = models.PositiveIntegerField(default=0)
    calls_refused = models.PositiveIntegerField(default=0)
    stdout_chars = models.BigIntegerField(default=0)
    stderr_chars = models.BigIntegerField(default=0)
    code_path = models.CharField(max_length=500, default="")
    code_sha256 = models.CharField(max_length=64, default="")
    seed = models.BigIntegerField(default=0)
    clock_ms = models.BigIntegerField(default=0)
    engine = JSONTextField(null=True)
    limits = JSONTextField(default=dict)
    controls = JSONTextField(default=dict)
    metrics = JSONTextField(default=dict)
    progress = JSONTextField(null=True)
    error = JSONTextField(null=True)
    hint = models.TextField(default="")
    code = models.TextField(default="")
    args_json = models.TextField(default="{}")
    value_json = models.TextField(null=True)
    lossy = JSONTextField(default=list)
    stdout_head = models.TextField(default="")
    stdout_tail = models.TextField(default="")
    stderr_head = models.TextField(default="")
    stderr_tail = models.TextField(default="")
    state_before = models.TextField(null=True)
    state_after = models.TextField(null=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["session", "number"], name="run_session_number"),
            # Whole, not only of the active ones: SQLite takes a partial index only for its very condition.
            models.Index(fields=["status", "number"], name="run_status_number"),
        ]

    @property
    def is_terminal(self) -> bool:
        return self.status in self.TERMINAL


class IdempotencyKey(models.Model):
    """A caller's promise that two requests are one; kept for 24 hours."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    session = models.ForeignKey(Session, on_delete=models.CASCADE)
    key = models.CharField(max_length=200)
    body_sha256 = models.CharField(max_length=64)
    run = models.ForeignKey(Run, on_delete=models.CASCADE)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "session", "key"], name="one_run_per_idempotency_key")]
