"""The rows: accounts, sessions, runs and their journal, workers."""

from __future__ import annotations

from runs.models.accounts import ApiToken, SignInLink, User
from runs.models.ids import new_id
from runs.models.journal import NestedCall, RunEvent
from runs.models.queue import QueueLock, Worker
from runs.models.run import IdempotencyKey, Run
from runs.models.session import Session

__all__ = [
    "ApiToken",
    "IdempotencyKey",
    "NestedCall",
    "QueueLock",
    "Run",
    "RunEvent",
    "Session",
    "SignInLink",
    "User",
    "Worker",
    "new_id",
]
