"""The permission gate every tool call passes: deny, then ask, then allow, then the defaults.

`decide` is a pure function of plain values; what is done with "ask" differs by who calls, and is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from sandboxes.base import Isolation
from sandboxes.errors import ApprovalRequired, PermissionDenied

ENGINE_TOOLS = frozenset({"js_run", "execute", "python_run"})

Verdict = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """Shell-style patterns of tool names, as configured."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the gate says, and the reason in words a person can act on."""

    verdict: Verdict
    reason: str


def decide(
    *,
    name: str,
    server: str | None = None,
    read_only_tool: bool = False,
    target_in_scratch: bool = False,
    permissions: Permissions,
    read_only: bool = False,
    isolation: Isolation | None = None,
) -> Decision:
    """Decide one call.

    `server` is the MCP server a tool comes from, None for our own; `isolation` the backend's, for the tools
    that run code; `read_only` whether the run or its workspace may write nothing.
    """
    names = _names(name, server)
    if (pattern := matching(names, permissions.deny)) is not None:
        return Decision(verdict="deny", reason=f"permissions.deny has `{pattern}`")
    if read_only and not read_only_tool and name not in ENGINE_TOOLS:
        return Decision(verdict="deny", reason="read-only: nothing may be written")
    if name == "python_run" and isolation is Isolation.NONE:
        return Decision(verdict="ask", reason="this backend is not sandboxed: each run is asked for")
    if (pattern := matching(names, permissions.ask)) is not None:
        return Decision(verdict="ask", reason=f"permissions.ask has `{pattern}`")
    if (pattern := matching(names, permissions.allow)) is not None:
        return Decision(verdict="allow", reason=f"permissions.allow has `{pattern}`")
    return _default(name, server, read_only_tool, target_in_scratch, isolation)


def _default(
    name: str, server: str | None, read_only_tool: bool, target_in_scratch: bool, isolation: Isolation | None
) -> Decision:
    if server is not None:
        return Decision(verdict="ask", reason="tools of MCP servers are asked for unless allowed")
    if name in ENGINE_TOOLS:
        if isolation is Isolation.ISOLATED:
            return Decision(verdict="allow", reason="it runs isolated")
        return Decision(verdict="ask", reason="its backend is not fully isolated")
    if read_only_tool:
        return Decision(verdict="allow", reason="built-in and only reads")
    if target_in_scratch:
        return Decision(verdict="allow", reason="it writes inside the scratchpad")
    return Decision(verdict="ask", reason="writes outside the scratchpad are asked for")


def _names(name: str, server: str | None) -> tuple[str, ...]:
    """Give what patterns are matched against: the exact registered name, then `server.tool`."""
    if server is None or name.startswith(f"{server}."):
        return (name,)
    return (name, f"{server}.{name}")


def matching(names: Sequence[str], patterns: Sequence[str]) -> str | None:
    """Give the first pattern that fits one of the names; a name written out always fits itself."""
    for name in names:
        for pattern in patterns:
            if name == pattern or fnmatchcase(name, pattern):
                return pattern
    return None


def refuse_nested(decision: Decision, tool: str) -> None:
    """Let an allowed nested call pass; raises PermissionDenied or, as a script cannot ask, ApprovalRequired."""
    if decision.verdict == "deny":
        raise PermissionDenied(f"`{tool}` is denied: {decision.reason}.", tool=tool)
    if decision.verdict == "ask":
        raise ApprovalRequired(f"`{tool}` needs an approval: {decision.reason}.", tool=tool)
