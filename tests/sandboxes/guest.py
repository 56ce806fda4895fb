"""Runs one script in the real engine with a small host of our own: what went out, what came back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from sandboxes.base import CallFinished, Event, Job, Limits, Outcome, Output, Progress, StopSignal, ToolCall, ToolInfo
from sandboxes.errors import ForjaError, ToolError, UnknownTool
from sandboxes.quickjs.backend import QuickJS
from sandboxes.quickjs.build import COMMAND, DEFAULT_FOLDER, FILE_NAME

STALL_SECONDS = 20.0


def fail(arguments: dict[str, Any]) -> Any:
    raise ToolError(arguments.get("message", "it failed"), hint="Try something else.")


TOOLS: dict[str, Callable[[dict[str, Any]], Any]] = {"fx_echo": lambda arguments: arguments, "fx_fail": fail}
STALLING = "fx_stall"  # answers only when it is stopped


@dataclass
class Ran:
    """A run that ended: its outcome and everything its host saw."""

    outcome: Outcome
    events: list[Event] = field(default_factory=list)

    @property
    def value(self) -> Any:
        assert self.outcome.error is None, self.outcome.error.as_dict()
        assert self.outcome.value_json is not None
        return json.loads(self.outcome.value_json)

    @property
    def error(self) -> ForjaError:
        assert self.outcome.error is not None, f"it succeeded with {self.outcome.value_json}"
        return self.outcome.error

    @property
    def code(self) -> str:
        return self.error.code

    @property
    def state(self) -> Any:
        assert self.outcome.state_json is not None
        return json.loads(self.outcome.state_json)

    @property
    def stdout(self) -> str:
        return self._text("stdout")

    @property
    def stderr(self) -> str:
        return self._text("stderr")

    @property
    def progress(self) -> list[Progress]:
        return [event for event in self.events if isinstance(event, Progress)]

    def calls(self, status: str) -> list[int]:
        return [event.seq for event in self.events if isinstance(event, CallFinished) and event.status == status]

    def _text(self, stream: str) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Output) and event.stream == stream)


class FakeHost:
    """A host whose tools are plain functions; it keeps every event and every call's arguments."""

    def __init__(self, tools: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
        self.stop = StopSignal()
        self.events: list[Event] = []
        self.sent: list[tuple[str, str]] = []
        self._tools = tools

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def call_tool(self, call: ToolCall) -> str:
        self.sent.append((call.tool, call.arguments_json))
        if call.tool == STALLING:
            call.stop.wait(STALL_SECONDS)
            return "null"
        if call.tool not in self._tools:
            raise UnknownTool(f"There is no tool named {call.tool}.")
        return json.dumps(self._tools[call.tool](json.loads(call.arguments_json)))


@cache
def backend() -> QuickJS:
    wasm = DEFAULT_FOLDER / FILE_NAME
    if not wasm.exists():
        pytest.skip(f"the JavaScript engine is not built: {COMMAND}")
    return QuickJS(
        wasm_path=wasm, cache_dir=DEFAULT_FOLDER / "cache-tests", host="worker", slots=1, instance="guest-tests"
    )


def run(
    code: str,
    *,
    args: Any = None,
    state: dict[str, Any] | None = None,
    state_is_off: bool = False,
    tools: dict[str, Callable[[dict[str, Any]], Any]] | None = None,
    limits: Limits | None = None,
    seed: int = 1,
    clock_ms: int = 1_700_000_000_000,
    host: FakeHost | None = None,
) -> Ran:
    """Run `code` to its end in a fresh VM."""
    tools = TOOLS | (tools or {})
    host = host or FakeHost(tools)
    job = Job(
        run_id="guest",
        code=code,
        args_json=json.dumps({} if args is None else args),
        state_json=None if state_is_off else json.dumps(state or {}),
        seed=seed,
        clock_ms=clock_ms,
        limits=limits or Limits(timeout_ms=20_000),
        tools=tuple(ToolInfo(name=name, description=f"Does {name}.") for name in (*tools, STALLING)),
    )
    return Ran(outcome=backend().run(job, host), events=host.events)
