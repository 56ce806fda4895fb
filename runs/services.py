"""Asking for a run and asking for its end: what every door calls."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError
from django.utils import timezone

from runs import queue
from runs.configuration import (
    config_for,
    limits_for,
    limits_json,
    require_enabled,
    require_valid,
    workspace_named,
)
from runs.engines import Choice, choose_engine
from runs.finishing import end_waiting
from runs.journal import Entry, append, insert
from runs.models import IdempotencyKey, Run, RunEvent, Session, User
from runs.pokes import ask_to_stop, poke
from runs.requests import RunRequest, check_code_size, storable
from runs.surroundings import read_code
from runs.writing import write
from sandboxes.base import Limits
from sandboxes.errors import AlreadyFinished, Cancelled, Conflict, Forbidden, InvalidInput, NotFound, SandboxError
from sandboxes.quickjs.source import prepare

IDEMPOTENCY_HOURS = 24
MAX_KEY_CHARS = 200

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Accepted:
    """A request that passed every check, with what it will run under."""

    request: RunRequest
    code: str
    limits: Limits
    limits_json: dict[str, int]
    engine: Choice
    max_per_session: int
    max_total: int


def submit(*, user: User, session: Session, request: RunRequest, door: str, idempotency_key: str | None = None) -> Run:
    """Accept a run: checked, written as queued, then announced. Nothing has started when this returns."""
    accepted = _accept(session, request)
    try:
        with write():
            if idempotency_key is not None:
                earlier = _earlier(user, session, idempotency_key, accepted)
                if earlier is not None:
                    return earlier
            ahead = queue.require_room(
                session=session, max_per_session=accepted.max_per_session, max_total=accepted.max_total
            )
            run = _write(user, session, accepted, door)
            if idempotency_key is not None:
                _remember(user, session, idempotency_key, accepted, run)
    except IntegrityError:
        if idempotency_key is None:
            raise
        # Two requests with one key at once: the other one won.
        earlier = _earlier(user, session, idempotency_key, accepted)
        if earlier is None:
            raise
        return earlier
    announce(run, is_seen_waiting=ahead > 0)
    return run


def announce(run: Run, *, is_seen_waiting: bool) -> None:
    """Put the token on the queue. Without a broker the run waits: workers look for waiting runs by themselves."""
    from runs.tasks import send_token

    try:
        send_token()
    except Exception:  # noqa: BLE001  whatever kombu raises, the row is what counts
        log.warning("the broker does not answer; run %s waits until a worker looks", run.id)
    if is_seen_waiting:
        # Otherwise the worker that claims it at once says so.
        poke(run_id=run.id, session_id=run.session_id)


def _accept(session: Session, request: RunRequest) -> _Accepted:
    workspace = workspace_named(config_for(), session.workspace)
    config = config_for(workspace)
    require_valid(config)
    require_enabled(config, request.tool)
    limits = limits_for(config, request)
    code = _code(session, request)
    return _Accepted(
        request=request,
        code=code,
        limits=limits,
        limits_json=limits_json(limits, state_is_on=bool(config["forge.state.enabled"]) and request.tool == "js_run"),
        engine=choose_engine(config, request.tool),
        max_per_session=int(config["forge.queue.maxPerSession"]),
        max_total=int(config["forge.queue.maxTotal"]),
    )


def _code(session: Session, request: RunRequest) -> str:
    """The code to run; what is no script at all is refused here, before anything is written."""
    code = request.code if request.code is not None else read_code(session, request.code_path or "")
    check_code_size(code)
    # A script that does not compile is a run that fails, with its line; a blank one is a bad request.
    with contextlib.suppress(SandboxError):
        prepare(code)
    return code


def _write(user: User, session: Session, accepted: _Accepted, door: str) -> Run:
    request, engine = accepted.request, accepted.engine
    run = Run(
        session=session,
        requested_by=user,
        door=door,
        tool=request.tool,
        title=request.title,
        code=accepted.code,
        code_path=storable(request.code_path or ""),
        code_sha256=hashlib.sha256(accepted.code.encode("utf-8", "surrogatepass")).hexdigest(),
        args_json=request.args_json,
        limits=accepted.limits_json,
        backend=engine.backend,
        isolation=engine.isolation,
        reason=engine.reason,
        engine=engine.engine,
        controls=engine.controls(accepted.limits),
        seed=secrets.randbits(32),
        last_seq=1,
    )
    run.save(force_insert=True)
    insert(run, [Entry(kind=RunEvent.Kind.QUEUED, data={"tool": run.tool}, at=run.created_at)], first_seq=1)
    return run


def _fingerprint(accepted: _Accepted) -> str:
    request = accepted.request
    body: dict[str, Any] = {
        "tool": request.tool,
        "code": request.code,
        "codePath": request.code_path,
        "title": request.title,
        "args": request.args_json,
        "timeoutMs": request.timeout_ms,
        "maxToolCalls": request.max_tool_calls,
    }
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _earlier(user: User, session: Session, key: str, accepted: _Accepted) -> Run | None:
    """The run this key stands for; another body under the same key is a CONFLICT."""
    if not key or len(key) > MAX_KEY_CHARS or not key.isprintable():
        raise InvalidInput(
            f"Idempotency-Key must have 1 to {MAX_KEY_CHARS} printable characters.", field="Idempotency-Key"
        )
    oldest = timezone.now() - timedelta(hours=IDEMPOTENCY_HOURS)
    IdempotencyKey.objects.filter(user=user, session=session, key=key, created_at__lt=oldest).delete()
    row = IdempotencyKey.objects.filter(user=user, session=session, key=key).select_related("run").first()
    if row is None:
        return None
    if row.body_sha256 != _fingerprint(accepted):
        raise Conflict(
            "This Idempotency-Key was used for another request.",
            hint="Use a new key for a new request.",
            field="Idempotency-Key",
        )
    return row.run


def _remember(user: User, session: Session, key: str, accepted: _Accepted, run: Run) -> None:
    IdempotencyKey.objects.create(user=user, session=session, key=key, body_sha256=_fingerprint(accepted), run=run)


def run_for(user: User, run_id: str, *, write: bool = False) -> Run:
    """The run, if this user may see it (`NOT_FOUND`) and, to act on it, owns its session (`FORBIDDEN`)."""
    run = Run.objects.visible_to(user).select_related("session").filter(id=run_id).first()
    if run is None:
        raise NotFound("There is no such run of yours.")
    if write and run.session.owner_id != user.pk:
        raise Forbidden("Only the session's owner can act on this run.")
    return run


def cancel(*, user: User, run: Run) -> Run:
    """Ask for the end of a run. A waiting one ends here; a running one ends when its worker confirms."""
    asked = Entry(kind=RunEvent.Kind.CANCEL_REQUESTED, data={"by": user.username})
    error = Cancelled(f"Stopped by {user.username} before it started.", by=user.username)
    if end_waiting(run, error, [asked]):
        poke(run_id=run.id, session_id=run.session_id, ended=True)
        run.refresh_from_db()
        return run
    with write():
        first = Run.objects.filter(pk=run.pk, status="running", cancel_requested_at=None).update(
            cancel_requested_at=timezone.now()
        )
        if first:
            append(run, [asked], only_if=["running"])
    run.refresh_from_db()
    if run.is_terminal:
        raise AlreadyFinished(f"The run has ended: {run.status}.")
    ask_to_stop(run.id)
    poke(run_id=run.id, session_id=run.session_id)
    return run
