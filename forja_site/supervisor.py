"""The supervisor behind `make run`: starts broker, worker and web, keeps them up, and stops all of it at once.

It has its own signal handlers, because a shell that starts it in the background leaves SIGINT ignored, and its
children live in sessions of their own, so that a Ctrl-C reaches them only through it, in the right order.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from forja_site import supervisor_programs as programs
from forja_site.config import effective
from forja_site.instance import broker_socket, instance_label
from forja_site.supervisor_checks import check_engine, check_port, check_public_host
from forja_site.supervisor_child import Child, Say
from forja_site.supervisor_home import (
    CannotStart,
    check_version,
    held,
    make_secret_key,
    open_home,
    private_folder,
)
from forja_site.supervisor_make import MakeWatch
from forja_site.supervisor_ready import has_socket, health
from forja_site.supervisor_samples import fill_workspace
from forja_site.supervisor_sweep import sweep
from forja_site.whole_file import write_whole

TICK_S = 0.1
BROKER_READY_S = 15.0
SLOW_S = 30.0
# Everything has to be gone within 5 s: the web process and the worker get most of that, the broker outlives both.
GRACE_S = 3.5
BROKER_GRACE_S = 0.5
STARTING_CRASHES = 3


class StopRequested(BaseException):
    """A signal asked for the stop while something long was under way; not an Exception, so that nothing swallows it."""


@dataclass(frozen=True, kw_only=True)
class Instance:
    """What is to be served: one home on one address. `site` is a name it answers to, `url` where its pages are."""

    home: Path
    host: str
    port: int
    version: str
    engine: Path
    site: str
    url: str
    environ: Mapping[str, str]

    @property
    def has_own_broker(self) -> bool:
        return not self.environ.get("REDIS_URL")


Prepare = Callable[[str], None]
Greet = Callable[[], Sequence[str]]


def serve(instance: Instance, *, prepare: Prepare, greet: Greet, say: Say) -> int:
    """Run until asked to stop, and give the exit status.

    `prepare` readies the database of a home that the given version wrote last; `greet` gives the lines to print once
    everything answers. Raises CannotStart.
    """
    supervisor = Supervisor(instance, say=say)
    with supervisor.heeding_signals():
        _check(instance)
        open_home(instance.home)
        with held(instance.home, url=instance.url), contextlib.suppress(StopRequested):
            written_by = check_version(instance.home, version=instance.version)
            _fill(instance.home)
            supervisor.run(prepare=lambda: prepare(written_by), greet=greet)
    return 0


def _check(instance: Instance) -> None:
    check_public_host(instance.host, environ=instance.environ)
    check_port(instance.host, instance.port, home=instance.home)
    check_engine(instance.engine)


def _fill(home: Path) -> None:
    try:
        make_secret_key(home)
        fill_workspace(home / "workspace")
    except OSError as error:
        raise CannotStart(
            f"{error.filename} cannot be used ({error.strerror}): is all of {home} this user's?"
        ) from error


class Supervisor:
    """Holds the children of one instance."""

    def __init__(self, instance: Instance, *, say: Say) -> None:
        self._instance = instance
        self._say = say
        self._label = instance_label(instance.home)
        self._make = MakeWatch()
        self._stopping = False
        self._interruptible = False
        self._children: list[Child] = []

    # ── Signals ─────────────────────────────────────────────────────────────────────────────────

    @contextlib.contextmanager
    def heeding_signals(self) -> Iterator[None]:
        """Take SIGINT, SIGTERM and SIGHUP as the wish to stop; an ignored SIGHUP stays ignored, as nohup wants it."""
        heeded = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            heeded.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._on_signal) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True
        if self._interruptible:
            self._interruptible = False
            raise StopRequested

    def _pause(self) -> None:
        """Let a tick pass, or raise StopRequested."""
        time.sleep(TICK_S)
        if self._stopping or self._make.wants_stop():
            self._stopping = True
            raise StopRequested

    # ── Life ────────────────────────────────────────────────────────────────────────────────────

    def run(self, *, prepare: Callable[[], None], greet: Greet) -> None:
        """Start everything, keep it up until asked to stop (then raises StopRequested), and leave nothing running."""
        # A log that cannot be written, on a full disk say, is no reason to print a traceback for each of its lines.
        logging.raiseExceptions = False
        self._say(f"Forja {self._instance.version} is starting on {self._instance.url} …")
        sweep(self._label)
        try:
            self._start_broker()
            self._prepare(prepare)
            self._start("worker", programs.worker(slots=self._slots()))
            self._start("web", programs.web())
            self._wait_until_well()
            for line in greet():
                self._say(line)
            while True:
                self._pause()
                self._keep()
        finally:
            self._stop()

    def _prepare(self, prepare: Callable[[], None]) -> None:
        self._interruptible = True
        try:
            prepare()
        finally:
            self._interruptible = False
        write_whole(self._instance.home / "version", self._instance.version + "\n")

    def _slots(self) -> int:
        return int(effective(self._instance.home / "config.json")["forge.queue.slots"])

    def _start(self, name: str, command: Sequence[str]) -> None:
        instance = self._instance
        environment = programs.environment(
            base=instance.environ, home=instance.home, label=self._label, host=instance.host, port=instance.port
        )
        child = Child(
            name=name,
            command=command,
            environment=environment,
            folder=programs.working_folder(),
            logs=instance.home / "logs",
            say=self._say,
        )
        self._children.append(child)
        child.start()

    def _start_broker(self) -> None:
        if not self._instance.has_own_broker:
            return
        socket = broker_socket(self._instance.home)
        private_folder(socket.parent)
        self._start("broker", programs.broker(socket=socket))
        deadline = time.monotonic() + BROKER_READY_S
        while not has_socket(socket):
            self._pause_while_starting()
            if time.monotonic() > deadline:
                raise CannotStart(f"The embedded broker does not answer on {socket}: see the logs in the home folder.")

    def _wait_until_well(self) -> None:
        slow_at = time.monotonic() + SLOW_S
        while (state := self._health()) != "ok":
            self._pause_while_starting()
            if time.monotonic() > slow_at:
                slow_at += SLOW_S
                self._say(f"Still starting ({state}); the logs are in {self._instance.home / 'logs'}.")

    def _health(self) -> str:
        return health(self._instance.host, self._instance.port, name=self._instance.site)

    def _pause_while_starting(self) -> None:
        self._pause()
        self._keep()
        for child in self._children:
            if child.crashes >= STARTING_CRASHES:
                raise CannotStart(f"{child.name} does not stay up; its last words:\n" + "\n".join(child.tail))

    def _keep(self) -> None:
        for child in self._children:
            child.keep()

    def _stop(self) -> None:
        """End the children, the broker last; whatever else carries the label goes with them."""
        brokers = [child for child in self._children if child.name == "broker"]
        others = [child for child in self._children if child.name != "broker"]
        for group, grace_s in ((others, GRACE_S), (brokers, BROKER_GRACE_S)):
            for child in group:
                child.ask_to_stop()
            _wait(group, seconds=grace_s)
            for child in group:
                child.kill()
        sweep(self._label)


def _wait(children: Sequence[Child], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not all(child.has_stopped() for child in children):
        time.sleep(0.02)
