"""The families of keys that a person names: `workspaces.NAME.…` and `mcpServers.NAME.…`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forja_site.config_file import Problem

DEFAULT_WORKSPACE = "default"

Members = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A folder the file tools may see; `path` is absolute."""

    name: str
    path: Path
    read_only: bool = False


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """A server that scripts may call: a `command` to start, or a `url` to reach, never both."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def members(values: Mapping[str, Any], family: str) -> Members:
    """Group the `family.NAME.part` values by name."""
    found: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        head, _, rest = key.partition(".")
        if head == family:
            name, _, part = rest.partition(".")
            found.setdefault(name, {})[part] = value
    return found


def read_workspaces(
    values: Mapping[str, Any], *, home: Path, file: str
) -> tuple[dict[str, Workspace], tuple[Problem, ...]]:
    """Give every workspace, `default` first; a relative path starts at the home."""
    found = {DEFAULT_WORKSPACE: Workspace(name=DEFAULT_WORKSPACE, path=home / "workspace")}
    problems = []
    for name, parts in members(values, "workspaces").items():
        read_only = parts.get("readOnly", False)
        if "path" in parts:
            found[name] = Workspace(name=name, path=_absolute(parts["path"], home), read_only=read_only)
        elif name == DEFAULT_WORKSPACE:
            found[name] = Workspace(name=name, path=home / "workspace", read_only=read_only)
        else:
            problems.append(_error(file, f"workspaces.{name}", f"`workspaces.{name}` needs a `path`"))
    return found, tuple(problems)


def read_mcp_servers(values: Mapping[str, Any], *, file: str) -> tuple[dict[str, McpServer], tuple[Problem, ...]]:
    """Give every MCP server that is whole, and what is wrong with the others."""
    found = {}
    problems = []
    for name, parts in members(values, "mcpServers").items():
        if wrong := _wrong_server(parts):
            problems.append(_error(file, f"mcpServers.{name}", f"`mcpServers.{name}` {wrong}"))
        else:
            found[name] = McpServer(name=name, **parts)
    return found, tuple(problems)


def _wrong_server(parts: Mapping[str, Any]) -> str:
    if ("command" in parts) == ("url" in parts):
        return "needs either a `command` or a `url`"
    if "url" in parts and not parts["url"].startswith(("http://", "https://")):
        return "needs a `url` that starts with http:// or https://"
    foreign = {"headers"} if "command" in parts else {"args", "env"}
    if unfit := sorted(foreign & parts.keys()):
        kind = "command" if "command" in parts else "url"
        return f"has `{unfit[0]}`, which does not go with `{kind}`"
    return ""


def _absolute(text: str, home: Path) -> Path:
    path = Path(text)
    # `~somebody` who is unknown here is taken as a folder's name.
    with contextlib.suppress(RuntimeError):
        path = path.expanduser()
    return home / path


def _error(file: str, key: str, message: str) -> Problem:
    return Problem(severity="error", file=file, key=key, message=message)
