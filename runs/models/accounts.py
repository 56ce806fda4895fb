"""People and the ways they prove who they are: sign-in links for the page, tokens for programs."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils import timezone

from runs.models.ids import new_id


class User(AbstractBaseUser):
    """Somebody who signs in by link or token; there are no passwords."""

    class Role(models.TextChoices):
        USER = "user"
        ANALYST = "analyst"
        ADMIN = "admin"

    username = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.USER)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = BaseUserManager()

    @property
    def is_admin(self) -> bool:
        return self.role == self.Role.ADMIN

    @property
    def reads_all(self) -> bool:
        """Analysts and admins see every session; only its owner acts in one."""
        return self.role in (self.Role.ANALYST, self.Role.ADMIN)


class SignInLink(models.Model):
    """A link that signs its user in; only the hash of its token is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    reusable = models.BooleanField(default=False)
    used_at = models.DateTimeField(null=True)


class ApiToken(models.Model):
    """A program's bearer token; only its hash is kept."""

    id = models.CharField(primary_key=True, max_length=40, default=new_id)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    name = models.CharField(max_length=100)
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
