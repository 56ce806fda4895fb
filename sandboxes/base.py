"""What every backend speaks: jobs, limits, events, outcomes, and the two protocols Host and Backend."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from sandboxes.errors import ForjaError

KIB = 1024
MIB = 1024 * KIB

MAX_CODE_BYTES = 1 * MIB
MAX_ARGS_BYTES = 1 * MIB
MAX_TOOL_RESULT_BYTES = 16 * MIB
MAX_VALUE_BYTES = 8 * MIB
MAX_STORED_OUTPUT_BYTES = 64 * MIB
MAX_DEPTH = 500


class Isolation(enum.StrEnum):
    """How much a backend holds back."""

    ISOLATED = "isolated"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The effective limits of one run; what a run reports as its limits is this value."""

    timeout_ms: int = 30_000
    memory_bytes: int = 32 * MIB
    stack_bytes: int = 256 * KIB
    max_tool_calls: int = 50
    max_concurrency: int = 4
    max_output_chars: int = 16_000
    max_state_bytes: int = 512 * KIB


@dataclass(frozen=True, kw_only=True)
class ToolInfo:
    """A tool as a script sees it in `tools.list()`."""

    name: str
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One script to run once.

    `args_json` and `state_json` are JSON texts; `state_json` is None when state is switched off.
    `clock_ms` is the guest's clock at the start (Unix milliseconds); it moves only when a call settles.
    """

    run_id: str
    code: str
    args_json: str = "{}"
    state_json: str | None = "{}"
    seed: int = 0
    clock_ms: int = 0
    limits: Limits = field(default_factory=Limits)
    tools: tuple[ToolInfo, ...] = ()


# ── Events a backend emits while a job runs ─────────────────────────────────────────────────────

CallStatus = Literal["succeeded", "failed", "refused", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class Output:
    kind: ClassVar[str] = "output"
    stream: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Progress:
    kind: ClassVar[str] = "progress"
    note: str | None = None
    completed: float | None = None
    total: float | None = None


@dataclass(frozen=True, kw_only=True)
class CallStarted:
    """The script asked for a call; `seq` counts a run's calls from 1, refused ones included."""

    kind: ClassVar[str] = "call_started"
    seq: int
    tool: str
    arguments_json: str


@dataclass(frozen=True, kw_only=True)
class CallFinished:
    """The call settled for the script, in this order; `clock_ms` is what the guest's clock then read.

    `result_json` is present when it succeeded, `error` (`code`, `message`, `hint`) when it did not.
    `queued_ms` is the time it waited for one of the run's concurrency slots.
    """

    kind: ClassVar[str] = "call_finished"
    seq: int
    status: CallStatus
    clock_ms: int
    duration_ms: float | None = None
    queued_ms: float | None = None
    result_json: str | None = None
    error: dict[str, Any] | None = None


Event = Output | Progress | CallStarted | CallFinished


# ── Stopping ────────────────────────────────────────────────────────────────────────────────────


class StopSignal:
    """A stop asked for from outside; whoever runs the job subscribes and confirms by ending."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = threading.Event()
        self._callbacks: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        return self._set.is_set()

    def wait(self, timeout_s: float | None = None) -> bool:
        return self._set.wait(timeout_s)

    def request(self) -> None:
        """Ask for the stop; a second request does nothing."""
        with self._lock:
            if self._set.is_set():
                return
            self._set.set()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` once when the stop is asked for, at once if it already was; gives the unsubscribe."""
        with self._lock:
            if not self._set.is_set():
                self._callbacks.append(callback)
                return lambda: self._unsubscribe(callback)
        callback()
        return lambda: None

    def _unsubscribe(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A nested call on its way to the host; `stop` is set when the answer is no longer wanted."""

    seq: int
    tool: str
    arguments_json: str
    stop: StopSignal


class Host(Protocol):
    """All that a running script can reach outside its sandbox."""

    stop: StopSignal

    def emit(self, event: Event) -> None:
        """Take one event; called from one thread at a time, never blocks for long."""

    def call_tool(self, call: ToolCall) -> str:
        """Run a nested call and give its result as JSON text, or raise ToolCallError; called from many threads.

        Runs on even when the job ends first: what it then returns is dropped by the backend and kept as late by
        the host.
        """


# ── Results ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a job ended.

    `error` is None on success; else a SandboxError (or Cancelled) whose details may hold
    `name, line, column, source, stack, cause, limit, tool`.
    `value_json` is the strict-JSON text of the value (also kept beside an error when the script had returned one);
    `state_json` the state after, when it was on and the run succeeded. `metrics` uses the public names
    (`startupMs, durationMs, cpuMs, peakMemoryBytes`); a figure that was not measured is absent.
    """

    value_json: str | None = None
    lossy: tuple[dict[str, str], ...] = ()
    hint: str | None = None
    state_json: str | None = None
    error: ForjaError | None = None
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Control:
    """One row of a run's `controls`: what was asked for, whether it was applied, how, and what was seen."""

    requested: str
    applied: bool
    how: str
    observed: str | None = None

    def as_dict(self) -> dict[str, Any]:
        body: dict[str, Any] = {"requested": self.requested, "applied": self.applied, "how": self.how}
        if self.observed is not None:
            body["observed"] = self.observed
        return body


@dataclass(frozen=True, kw_only=True)
class EngineInfo:
    """The engine of a run as the contract names it: `{name, version, sha256, host}`."""

    name: str
    version: str
    sha256: str
    host: str

    def as_dict(self) -> dict[str, str]:
        return {"name": self.name, "version": self.version, "sha256": self.sha256, "host": self.host}


@dataclass(frozen=True, kw_only=True)
class Status:
    """Whether a backend could run a job now; if not, why (`error`) and which command mends it."""

    ready: bool
    engine: EngineInfo | None = None
    error: ForjaError | None = None
    command: str | None = None


class Backend(Protocol):
    """A way to run scripts. Synchronous; knows no Django; stops whatever it starts."""

    name: ClassVar[str]
    isolation: ClassVar[Isolation]

    def status(self) -> Status:
        """Say whether this backend could run a job now, and if not, why and which command mends it."""

    def controls(self, limits: Limits) -> dict[str, Control]:
        """What this backend applies for these limits, by control name."""

    def run(self, job: Job, host: Host) -> Outcome:
        """Run the job to its end. A guest's failure is an Outcome with an error; any exception is ours."""

    def close(self) -> None:
        """End every process and thread this backend keeps ready."""
