"""What goes into a VM and what comes out: plain values, the same for both hosts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

from sandboxes.base import MIB, Job
from sandboxes.quickjs.source import Source

OP_CALL, OP_OUTPUT, OP_PROGRESS = 1, 2, 3
# Says that the code was compiled; whoever runs the VM keeps it.
OP_COMPILED = 4

# Bounds on one message of the guest, checked before it is looked at.
# A call's arguments have at most 16 Mi characters, each up to three bytes of UTF-8.
MAX_CALL_BYTES = 3 * 16 * MIB + 4096
MAX_OUTPUT_BYTES = 64 * MIB
MAX_PROGRESS_BYTES = 64 * 1024
MAX_REPORT_BYTES = 64 * MIB
MAX_MESSAGE_BYTES = {
    OP_CALL: MAX_CALL_BYTES,
    OP_OUTPUT: MAX_OUTPUT_BYTES,
    OP_PROGRESS: MAX_PROGRESS_BYTES,
    OP_COMPILED: 0,
}

Message = tuple[int, bytes]
StopReason = Literal["timeout", "cancelled"]
EndKind = Literal["report", "large", "timeout", "cancelled", "memory", "stack", "nesting", "trap", "start", "killed"]
END_KINDS: dict[str, EndKind] = {kind: kind for kind in get_args(EndKind)}


@dataclass(frozen=True, kw_only=True)
class Order:
    """One run as the VM needs it. `init` is the JSON text the prelude's `run` takes."""

    code: bytes
    init: bytes
    heap_bytes: int
    stack_bytes: int
    timeout_ms: int
    clock_ms: int
    max_calls: int


@dataclass(frozen=True, kw_only=True)
class End:
    """How the VM ended: with the guest's report, or in one of the other ways, told in `detail`."""

    kind: EndKind
    report: bytes = b""
    detail: str = ""
    metrics: dict[str, float] = field(default_factory=dict)


Take = Callable[[list[Message]], None]


class Running(Protocol):
    """One run in a room. All but `run` may be called from any thread, also before it and after its end."""

    def run(self) -> End:
        """Run to the confirmed end. What the script sends is given to the run's `take` as it comes, from one
        thread at a time; `take` may raise, then the script is ended and the exception raised here."""

    def settle(self, *, call_id: int, ok: bool, payload: bytes, clock_ms: int) -> None:
        """Queue the answer to a nested call; never blocks."""

    def deliver(self) -> None:
        """Send what was queued; may block as long as the script is busy."""

    def stop(self, reason: StopReason) -> None:
        """Ask for the end."""

    def abort(self) -> None:
        """End it because it broke the protocol."""


class Room(Protocol):
    """A place where one VM at a time runs: a thread or a child process."""

    def begin(self, order: Order, take: Take) -> Running: ...

    def close(self) -> None:
        """Give back everything."""


def order_of(*, job: Job, source: Source) -> Order:
    limits = job.limits
    tools = json.dumps([{"name": tool.name, "description": tool.description} for tool in job.tools])
    state = "null" if job.state_json is None else job.state_json
    init = (
        f'{{"args":{job.args_json},"state":{state},"seed":{job.seed & 0xFFFFFFFF},'
        f'"tools":{tools},"stack":{limits.stack_bytes}}}'
    )
    return Order(
        code=source.code.encode("utf-8", "surrogatepass"),
        init=init.encode("utf-8", "backslashreplace"),
        heap_bytes=limits.memory_bytes,
        stack_bytes=limits.stack_bytes,
        timeout_ms=limits.timeout_ms,
        clock_ms=job.clock_ms,
        max_calls=limits.max_tool_calls,
    )


# Run once in every new slot.
WARM_UP = Order(
    code=b"return 1 + 1",
    init=b'{"args":{},"state":{},"seed":0,"tools":[],"stack":262144}',
    heap_bytes=32 * MIB,
    stack_bytes=256 * 1024,
    timeout_ms=30_000,
    clock_ms=0,
    max_calls=0,
)
