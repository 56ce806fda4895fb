"""A session: one conversation, its workspace, its shared state."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from runs.models.accounts import User
from runs.models.fields import JSONTextField
from runs.models.ids import new_id


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, user: User) -> SessionQuerySet:
        """The sessions this user may look at."""
        return self if user.reads_all else self.filter(owner=user)


class Session(models.Model):
    id = models.CharField(primary_key=True, max_length=40, default=new_id)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="children")
    root = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="descendants")
    title = models.CharField(max_length=200, default="")
    workspace = models.CharField(max_length=100, default="default")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now, db_index=True)
    last_claimed_at = models.DateTimeField(null=True)
    state = JSONTextField(default=dict)

    objects = SessionQuerySet.as_manager()

    @property
    def root_id_or_self(self) -> str:
        """The session whose scratchpad this one shares."""
        return str(self.root_id or self.id)
