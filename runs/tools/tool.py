"""What a tool is, and what it is told about the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runs.tools.places import Place
from sandboxes.base import StopSignal


@dataclass(frozen=True, kw_only=True)
class CallContext:
    """Who calls, and in what surroundings. `scratch` is None while the scratchpad is switched off."""

    run_id: str
    session_id: str
    workspace: Place
    scratch: Place | None
    read_only: bool
    stop: StopSignal
    nested: bool

    @property
    def writes_nothing(self) -> bool:
        """A read-only run writes nowhere; nor does any run in a read-only workspace."""
        return self.read_only or self.workspace.read_only


def _never(_arguments: dict[str, Any]) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool. `call` takes validated arguments and gives plain JSON values (bytes allowed), or raises ForjaError.

    `server` is the MCP server it comes from, None for our own. `is_in_scratch` says of a call's arguments
    whether all it writes to is the scratchpad.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    read_only: bool = False
    open_world: bool = False
    server: str | None = None
    call: Callable[[dict[str, Any], CallContext], Any] = field(repr=False)
    is_in_scratch: Callable[[dict[str, Any]], bool] = field(default=_never, repr=False)
