"""A worker process: its row, its heartbeat, the writer of live events, and the ear for stop requests."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from pathlib import Path

import redis
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections
from django.utils import timezone

from runs import queue
from runs.configuration import config_for
from runs.engines import close_engines, javascript
from runs.execution import active, execute
from runs.models import Run, Worker
from runs.pokes import STOPS, poke
from runs.recovery import end_orphans, forget_dead_workers
from sandboxes.errors import ForjaError

FLUSH_EVERY_S = 0.04
HEARTBEAT_S = 1.0
MOST_WARM = 8
"""Engines made ready at the start; a machine with more slots makes the others when they are first needed."""

log = logging.getLogger(__name__)


def boot_mark(pid: int) -> str:
    """Tell one process from a later one with the same pid: the kernel's start time of it, in clock ticks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


class WorkerProcess:
    """Everything a worker process does besides running scripts."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self.id = ""

    def start(self) -> None:
        """End what earlier workers left running, ready an engine, register, and look after our own runs.

        Nothing is claimed before this returns: Celery announces itself ready from the thread that takes tokens.
        """
        end_orphans()
        forget_dead_workers()
        _ready_engines(1)
        pid = os.getpid()
        self.id = Worker.objects.create(host=socket.gethostname(), pid=pid, boot=boot_mark(pid)).id
        for target in (self._write_events, self._beat, self._listen):
            thread = threading.Thread(target=target, name=f"forja-{target.__name__}", daemon=True)
            thread.start()
            self._threads.append(thread)
        threading.Thread(target=_ready_engines, args=(MOST_WARM,), name="forja-warm", daemon=True).start()

    def stop(self) -> None:
        """Interrupt what runs, say so on each, and leave nothing behind."""
        self._stopping.set()
        for host in active.hosts().values():
            host.interrupt()
        deadline = time.monotonic() + 3
        while active.hosts() and time.monotonic() < deadline:
            time.sleep(0.01)
        close_engines()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def _write_events(self) -> None:
        """Bring live events to the database within a blink, from one thread for all runs."""
        while not self._stopping.wait(FLUSH_EVERY_S):
            now = time.monotonic()
            for recorder in active.recorders():
                try:
                    if recorder.is_due(now=now, age_s=FLUSH_EVERY_S):
                        recorder.flush()
                    elif not recorder.take_first_poke(now=now, age_s=FLUSH_EVERY_S):
                        continue
                    poke(run_id=recorder.run.id, session_id=recorder.run.session_id)
                except DatabaseError as error:
                    log.error("could not write the events of run %s (%s); trying again", recorder.run.id, error)
                    close_old_connections()
                    self._stopping.wait(HEARTBEAT_S)

    def _beat(self) -> None:
        """Show that we live, stop what the database says should stop, look after orphans and waiting runs."""
        while not self._stopping.wait(HEARTBEAT_S):
            try:
                Worker.objects.filter(pk=self.id).update(heartbeat_at=timezone.now())
                hosts = active.hosts()
                if hosts:
                    asked = Run.objects.filter(id__in=list(hosts)).exclude(cancel_requested_at=None)
                    for run_id in asked.values_list("id", flat=True):
                        active.stop(run_id)
                end_orphans()
                self._look_for_work()
            except DatabaseError as error:
                log.error("the database does not answer (%s); trying again", error)
                close_old_connections()

    def _look_for_work(self) -> None:
        """A token can be lost with the broker; a waiting run with a free slot is then found here."""
        found = queue.counts()
        if found["queued"] and found["running"] < _slots():
            threading.Thread(target=_work_apart, name="forja-found-work", daemon=True).start()

    def _listen(self) -> None:
        """Hear stop requests; after a broken connection, listen again."""
        while not self._stopping.is_set():
            client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=None)
            try:
                with client.pubsub() as subscription:  # type: ignore[no-untyped-call]
                    subscription.subscribe(STOPS)
                    for message in subscription.listen():
                        if message["type"] == "message":
                            active.stop(json.loads(message["data"])["run"])
            except redis.RedisError:
                log.warning("the broker does not answer; stop requests are read from the database meanwhile")
                self._stopping.wait(HEARTBEAT_S)
            finally:
                client.close()


process = WorkerProcess()


def _ready_engines(rooms: int) -> None:
    """Make engines ready before a run needs them; without one the runs themselves say what is missing."""
    try:
        javascript(config_for()).warm(rooms)
    except ForjaError as error:
        log.warning("the JavaScript engine is not ready: %s", error.message)


def _slots() -> int:
    return int(config_for()["forge.queue.slots"])


def _work_apart() -> None:
    try:
        work_until_idle()
    finally:
        connections.close_all()


def work_until_idle() -> None:
    """Claim and execute, one run after the other, until nothing waits or every slot is taken."""
    while not process.is_stopping:
        try:
            run = queue.claim_next(worker_id=process.id, slots=_slots())
            if run is None:
                return
            execute(run)
            if not queue.is_waiting():
                return
        except DatabaseError as error:
            # Nothing was claimed; the heartbeat looks for waiting runs when the database is back.
            log.error("could not look for a run to claim (%s)", error)
            close_old_connections()
            return
