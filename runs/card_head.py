"""The head of a card: whose run it is, how it stands, who asked, how long it has taken, what it waits for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from runs import labels, queue
from runs.figures import progress_view
from runs.models import Run, Session, User


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """Who looks, and whether on the run's own page, where everything is shown and anchors are short."""

    user: User
    full: bool = False

    def may_act(self, session: Session) -> bool:
        return session.owner_id == self.user.pk and self.user.role != User.Role.ANALYST


@dataclass(frozen=True, kw_only=True)
class QueuePlace:
    position: int
    here: list[Run]
    elsewhere: int


@dataclass(kw_only=True)
class CardHead:
    """One run as one viewer sees it: title, status, time, place in line, progress."""

    run: Run
    viewer: Viewer
    now: datetime = field(default_factory=timezone.now)
    queued: dict[int, float] | None = None
    line: list[tuple[int, str]] | None = None

    @property
    def key(self) -> str:
        """Prefix of the live fragments' ids."""
        return f"run-{self.run.id}"

    @property
    def anchor(self) -> str:
        """Prefix of what people link to: short on the run's own page."""
        return "" if self.viewer.full else f"run-{self.run.id}-"

    @property
    def seq(self) -> int:
        return self.run.last_seq

    @property
    def may_act(self) -> bool:
        return self.viewer.may_act(self.run.session)

    @property
    def is_live(self) -> bool:
        return not self.run.is_terminal

    @property
    def is_running(self) -> bool:
        return self.run.status == Run.Status.RUNNING

    @property
    def is_stopping(self) -> bool:
        return self.is_running and self.run.cancel_requested_at is not None

    @property
    def may_stop(self) -> bool:
        return self.is_live and self.may_act

    @property
    def title(self) -> str:
        return self.run.title or _("Untitled script")

    @property
    def asked_by(self) -> str:
        """Who asked, always said."""
        if self.run.door == Run.Door.PAGE and self.run.requested_by is not None:
            if self.run.requested_by_id == self.viewer.user.pk:
                return _("started by you")
            return _("started by %(name)s") % {"name": self.run.requested_by.username}
        return labels.word(labels.DOOR, self.run.door)

    @property
    def elapsed_ms(self) -> float | None:
        """How long it took, or has taken; None before it started."""
        if self.run.started_at is None:
            return None
        measured = self.run.metrics.get("durationMs")
        if self.run.is_terminal and isinstance(measured, (int, float)):
            return float(measured)
        end = self.run.finished_at or self.now
        return max(0.0, (end - self.run.started_at).total_seconds() * 1_000)

    @property
    def running_ms(self) -> float:
        return self.elapsed_ms or 0.0

    @property
    def elapsed_whole_ms(self) -> str:
        return str(int(self.running_ms))

    @property
    def confirmed_ms(self) -> float | None:
        """How long after the request the end was confirmed."""
        asked, ended = self.run.cancel_requested_at, self.run.finished_at
        return max(0.0, (ended - asked).total_seconds() * 1_000) if asked and ended else None

    # ── Queue, progress, calls ──────────────────────────────────────────────────────────────────

    @cached_property
    def queue(self) -> QueuePlace | None:
        if self.run.status != Run.Status.QUEUED:
            return None
        line = self.line if self.line is not None else queue.line_up()
        numbers = [number for number, _session in line]
        if self.run.pk not in numbers:
            return None
        ahead = line[: numbers.index(self.run.pk)]
        mine = [number for number, session in ahead if session == self.run.session_id]
        before = Q(pk__in=mine[:2]) | Q(session=self.run.session, status="running")
        here = list(Run.objects.light().filter(before).order_by("number")[:3])
        return QueuePlace(position=len(ahead) + 1, here=here, elsewhere=len(ahead) - len(mine))

    @property
    def progress(self) -> dict[str, Any] | None:
        """`note`, and `completed` of `total` as whole thousandths for the bar when both are usable."""
        progress = self.run.progress
        return progress_view(progress) if isinstance(progress, dict) else None
