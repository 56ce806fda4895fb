"""The tools there are, by name, and how a script's call of one is carried out."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from django.conf import settings

from runs.tools.file_tools import FILE_TOOLS
from runs.tools.gate import Decision, Permissions, decide, refuse_nested
from runs.tools.jsontext import read_arguments, write_result
from runs.tools.masking import fit, mask
from runs.tools.schema import validate
from runs.tools.tool import CallContext, Tool
from sandboxes.base import ToolInfo
from sandboxes.errors import ForjaError, Internal, NotCallable, UnknownTool

__all__ = [
    "NOT_CALLABLE",
    "CallContext",
    "Registry",
    "Tool",
    "call_nested",
    "decide_call",
    "default_registry",
    "perform",
]

logger = logging.getLogger(__name__)

NOT_CALLABLE = frozenset({"js_run", "python_run", "execute", "forge_guide"})


class Registry:
    """Tools by their registered name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Add a tool; a second one of the same name is a ValueError, never a replacement."""
        if tool.name in self._tools:
            raise ValueError(f"two tools are called {tool.name!r}")
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool:
        """Find a tool by its exact name, then by a bare name that only one server has; raises UnknownTool."""
        if name in self._tools:
            return self._tools[name]
        bare = [tool for tool in self._tools.values() if tool.server and tool.name == f"{tool.server}.{name}"]
        if len(bare) == 1:
            return bare[0]
        raise self._unknown(name, [tool.name for tool in bare])

    def _unknown(self, name: str, same: list[str]) -> UnknownTool:
        shown = fit(name, 100)
        near = same or difflib.get_close_matches(shown, self.callable_names(), n=1)
        if same:
            message = f"Several servers have a tool `{shown}`."
        else:
            message = f"There is no tool `{shown}`."
        hint = f"Did you mean {' or '.join(f'`{found}`' for found in near)}?" if near else None
        return UnknownTool(message, hint=hint, tool=shown)

    def is_read_only(self, name: str) -> bool:
        """Say whether a call of this name changes nothing; a name there is no tool for counts as one that may."""
        try:
            return self.get(name).read_only
        except UnknownTool:
            return False

    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def callable_names(self) -> tuple[str, ...]:
        return tuple(name for name in self._tools if name not in NOT_CALLABLE)

    def infos(self) -> tuple[ToolInfo, ...]:
        """Give what a script may call, as `tools.list()` shows it."""
        return tuple(ToolInfo(name=name, description=self._tools[name].description) for name in self.callable_names())


def default_registry() -> Registry:
    """Give our four file tools and what the modules named in `settings.FORJA_EXTRA_TOOLS` provide by `tools()`."""
    registry = Registry(FILE_TOOLS)
    for path in getattr(settings, "FORJA_EXTRA_TOOLS", ()):
        for tool in import_module(path).tools():
            registry.register(tool)
    return registry


def decide_call(permissions: Permissions, tool: Tool, arguments: dict[str, Any], context: CallContext) -> Decision:
    """Ask the gate about one call of a tool, direct or nested."""
    return decide(
        name=tool.name,
        server=tool.server,
        read_only_tool=tool.read_only,
        target_in_scratch=tool.is_in_scratch(arguments),
        permissions=permissions,
        read_only=context.writes_nothing,
    )


def call_nested(
    registry: Registry, permissions: Permissions, name: str, arguments_json: str, context: CallContext
) -> str:
    """Carry out a script's call and give the result as JSON text; raises ForjaError, which the script can catch."""
    if name in NOT_CALLABLE:
        raise NotCallable(f"`{name}` cannot be called from a script.", tool=name)
    tool = registry.get(name)
    arguments = validate(read_arguments(arguments_json), tool.input_schema)
    refuse_nested(decide_call(permissions, tool, arguments, context), tool.name)
    return perform(tool, arguments, context)


def perform(tool: Tool, arguments: dict[str, Any], context: CallContext) -> str:
    """Run a tool that may run, and give its result as JSON text.

    Whatever goes wrong inside is logged whole, and told without host paths or secrets as INTERNAL: the tool is ours.
    """
    try:
        return write_result(tool.call(arguments, context))
    except ForjaError:
        raise
    except Exception as error:
        logger.exception("tool %s failed in run %s", tool.name, context.run_id)
        told = mask(str(error)) or type(error).__name__
        raise Internal(f"`{tool.name}` failed: {told}", tool=tool.name) from None
