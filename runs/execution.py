"""Executing a claimed run: its host, its backend, its end."""

from __future__ import annotations

import logging
import threading
import time
from functools import cache

from django.db import DatabaseError, close_old_connections

from runs.configuration import limits_from
from runs.engines import backend_for
from runs.finishing import finish_running
from runs.models import Run
from runs.pokes import poke
from runs.recorder import Recorder
from runs.surroundings import Surroundings, surroundings_of
from runs.tools.registry import CallContext, Registry, call_nested, default_registry
from sandboxes.base import Event, Job, Outcome, StopSignal, ToolCall
from sandboxes.errors import Cancelled, ForjaError, Internal, Interrupted

RETRY_S = 1.0

log = logging.getLogger(__name__)


class RunHost:
    """All that a running script can reach: the journal takes its events, the gate its calls."""

    def __init__(self, *, run: Run, recorder: Recorder, registry: Registry, surroundings: Surroundings) -> None:
        self.stop = StopSignal()
        self.interrupted = False
        self._run = run
        self._recorder = recorder
        self._registry = registry
        self._surroundings = surroundings
        self._ended = threading.Event()

    def emit(self, event: Event) -> None:
        self._recorder.take(event)

    def call_tool(self, call: ToolCall) -> str:
        """Run a nested call through the gate; an answer that comes too late is only noted."""
        if not self._registry.is_read_only(call.tool):
            # The intent is in the journal before anything happens.
            self._recorder.flush()
        try:
            return call_nested(
                self._registry,
                self._surroundings.permissions,
                call.tool,
                call.arguments_json,
                self._context(call.stop),
            )
        finally:
            if self._ended.is_set() or call.stop.is_set():
                self._recorder.note_late(call.seq)

    def _context(self, stop: StopSignal) -> CallContext:
        return CallContext(
            run_id=self._run.id,
            session_id=self._run.session_id,
            workspace=self._surroundings.workspace,
            scratch=self._surroundings.scratch,
            read_only=self._surroundings.workspace.read_only,
            stop=stop,
            nested=True,
        )

    def interrupt(self) -> None:
        """Stop because this worker stops, not because somebody asked."""
        self.interrupted = True
        self.stop.request()

    def end(self) -> None:
        self._ended.set()


class Active:
    """The runs this process executes now, by id; a stop asked for a moment too early is remembered."""

    _REMEMBERED = 1000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hosts: dict[str, tuple[RunHost, Recorder]] = {}
        self._early_stops: dict[str, None] = {}

    def add(self, run: Run, host: RunHost, recorder: Recorder) -> None:
        with self._lock:
            self._hosts[run.id] = (host, recorder)
            stop_now = run.id in self._early_stops
        if stop_now:
            host.stop.request()

    def remove(self, run: Run) -> None:
        with self._lock:
            self._hosts.pop(run.id, None)

    def stop(self, run_id: str) -> None:
        with self._lock:
            found = self._hosts.get(run_id)
            if found is None:
                self._early_stops[run_id] = None
                while len(self._early_stops) > self._REMEMBERED:
                    del self._early_stops[next(iter(self._early_stops))]
        if found is not None:
            found[0].stop.request()

    def recorders(self) -> list[Recorder]:
        with self._lock:
            return [recorder for _, recorder in self._hosts.values()]

    def hosts(self) -> dict[str, RunHost]:
        with self._lock:
            return {run_id: host for run_id, (host, _) in self._hosts.items()}


active = Active()


def execute(run: Run) -> None:
    """Run a claimed run to its terminal status; whatever happens, it gets one."""
    recorder = Recorder(run)
    try:
        outcome = _run(run, recorder)
    except ForjaError as error:
        outcome = Outcome(error=error)
    except Exception:
        log.exception("run %s failed inside Forja", run.id)
        outcome = Outcome(error=Internal("Something in Forja failed while this ran; the server log has it."))
    _finish(run, outcome, recorder)
    poke(run_id=run.id, session_id=run.session_id, ended=True)


def _finish(run: Run, outcome: Outcome, recorder: Recorder) -> None:
    """Write the end, however long the database is away: nobody else may, while this worker lives."""
    while True:
        try:
            finish_running(run, outcome, recorder)
            return
        except DatabaseError as error:
            log.error("could not write the end of run %s (%s); trying again", run.id, error)
            close_old_connections()
            time.sleep(RETRY_S)


def _run(run: Run, recorder: Recorder) -> Outcome:
    surroundings = surroundings_of(run.session)
    registry = _registry()
    host = RunHost(run=run, recorder=recorder, registry=registry, surroundings=surroundings)
    active.add(run, host, recorder)
    try:
        outcome = backend_for(surroundings.config, run.backend).run(_job(run, registry), host)
    finally:
        host.end()
        active.remove(run)
    return _said_why(outcome, run, host)


@cache
def _registry() -> Registry:
    return default_registry()


def _job(run: Run, registry: Registry) -> Job:
    return Job(
        run_id=run.id,
        code=run.code,
        args_json=run.args_json,
        state_json=run.state_before,
        seed=run.seed,
        clock_ms=run.clock_ms,
        limits=limits_from(run.limits),
        tools=registry.infos(),
    )


def _said_why(outcome: Outcome, run: Run, host: RunHost) -> Outcome:
    """A stop is the user's or the worker's: say whose."""
    if not isinstance(outcome.error, Cancelled):
        return outcome
    if host.interrupted:
        error: ForjaError = Interrupted("The worker that ran this was stopped.")
    else:
        event = run.events.filter(kind="cancel_requested").order_by("seq").first()
        who = (event.data.get("by") if event else None) or "somebody"
        error = Cancelled(f"Stopped by {who}.", by=who, hint=outcome.error.hint)
    return Outcome(lossy=outcome.lossy, hint=outcome.hint, error=error, metrics=outcome.metrics)
