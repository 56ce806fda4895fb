"""A host for engine tests: tools that are plain functions, and everything that happened."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandboxes.base import (
    CallFinished,
    CallStarted,
    Event,
    Job,
    Limits,
    Outcome,
    Output,
    StopSignal,
    ToolCall,
)
from sandboxes.quickjs.backend import QuickJS

Tool = Callable[[ToolCall], str]


class FakeHost:
    def __init__(self, tool: Tool | None = None) -> None:
        self.stop = StopSignal()
        self.events: list[Event] = []
        self.reached: list[ToolCall] = []
        self._tool = tool or (lambda call: call.arguments_json)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def call_tool(self, call: ToolCall) -> str:
        self.reached.append(call)
        return self._tool(call)

    def text(self, stream: str = "stdout") -> str:
        return "".join(event.text for event in self.events if isinstance(event, Output) and event.stream == stream)

    def started(self) -> list[int]:
        return [event.seq for event in self.events if isinstance(event, CallStarted)]

    def finished(self) -> list[CallFinished]:
        return [event for event in self.events if isinstance(event, CallFinished)]

    def statuses(self) -> dict[int, str]:
        return {event.seq: event.status for event in self.finished()}


@dataclass
class Ran:
    outcome: Outcome
    host: FakeHost
    seconds: float

    @property
    def value(self) -> Any:
        assert self.outcome.error is None, self.outcome.error
        return json.loads(self.outcome.value_json or "null")

    @property
    def code(self) -> str | None:
        return self.outcome.error.code if self.outcome.error else None


def run(engine: QuickJS, code: str, *, host: FakeHost | None = None, seed: int = 0, **limits: int) -> Ran:
    host = host or FakeHost()
    job = Job(run_id="test", code=code, clock_ms=1_700_000_000_000, seed=seed, limits=Limits(**limits))
    started = time.monotonic()
    outcome = engine.run(job, host)
    return Ran(outcome=outcome, host=host, seconds=time.monotonic() - started)


def assert_next_run_is_fine(engine: QuickJS) -> None:
    after = run(engine, "return 40 + 2")
    assert (after.value, after.host.events) == (42, [])
    assert after.seconds < 2


def stubborn(release: threading.Event) -> Tool:
    """A tool that ignores the stop and answers when released."""

    def tool(call: ToolCall) -> str:
        release.wait(30)
        return '"late"'

    return tool


def wait_for(condition: Callable[[], bool], *, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)
