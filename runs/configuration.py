"""The configuration in force for a workspace, and the limits of a run made from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from forja_site.config import Config, effective
from runs.workspaces import Workspace, find_workspace, workspaces
from sandboxes.base import Limits
from sandboxes.errors import ConfigInvalid, Disabled, InvalidInput

if TYPE_CHECKING:
    from runs.requests import RunRequest


def global_path() -> Path:
    return Path(settings.FORJA_HOME) / "config.json"


def config_for(workspace: Workspace | None = None) -> Config:
    """The effective configuration, of a workspace when one is given."""
    project = workspace.path / ".forja" / "config.json" if workspace else None
    environ = {"ALISIO_TMPDIR": settings.FORJA_TMPDIR} if settings.FORJA_TMPDIR else {}
    return effective(global_path(), project, environ)


def workspace_named(config: Config, name: str) -> Workspace:
    """The workspace of this name (`INVALID_INPUT` with the nearest when there is none)."""
    return find_workspace(workspaces(config.workspaces, Path(settings.FORJA_HOME)), name)


def require_valid(config: Config) -> None:
    """Refuse to run while a configuration file is broken: it might have been stricter."""
    problem = config.refusal
    if problem is not None:
        raise ConfigInvalid(
            f"{problem.file}: {problem.message}", hint=f"Mend {problem.file}; nothing runs until it is valid."
        )


def require_enabled(config: Config, tool: str) -> None:
    """`js_run` and `execute` exclude each other: one is served while JavaScript is on, the other while it is off."""
    enabled = bool(config["forge.javascript.enabled"])
    if tool == "js_run" and not enabled:
        raise Disabled(
            "js_run is switched off.", hint="An admin can set `forge.javascript.enabled` to true in config.json."
        )
    if tool == "execute" and enabled:
        raise Disabled("execute is replaced by js_run while forge.javascript.enabled is on.", hint="Call js_run.")


def limits_for(config: Config, request: RunRequest) -> Limits:
    """The limits of this run: the configured ones, lowered where the caller asked for less."""
    timeout_ms = int(config["forge.javascript.timeoutMs"])
    max_calls = int(config["forge.javascript.maxToolCalls"])
    return Limits(
        timeout_ms=_lowered(request.timeout_ms, timeout_ms, field="timeoutMs"),
        memory_bytes=int(config["forge.javascript.memoryBytes"]),
        stack_bytes=int(config["forge.javascript.stackBytes"]),
        max_tool_calls=_lowered(request.max_tool_calls, max_calls, field="maxToolCalls"),
        max_concurrency=int(config["forge.javascript.maxConcurrency"]),
        max_output_chars=int(config["forge.javascript.maxOutputChars"]),
        max_state_bytes=int(config["forge.state.maxTotalBytes"]),
    )


def limits_json(limits: Limits, *, state_is_on: bool) -> dict[str, int]:
    """The limits as a run reports them; `maxStateBytes` is there only while `state` is."""
    body = {
        "timeoutMs": limits.timeout_ms,
        "memoryBytes": limits.memory_bytes,
        "stackBytes": limits.stack_bytes,
        "maxToolCalls": limits.max_tool_calls,
        "maxConcurrency": limits.max_concurrency,
        "maxOutputChars": limits.max_output_chars,
    }
    return body | ({"maxStateBytes": limits.max_state_bytes} if state_is_on else {})


def limits_from(body: dict[str, int]) -> Limits:
    """The limits that a run was accepted with."""
    return Limits(
        timeout_ms=body["timeoutMs"],
        memory_bytes=body["memoryBytes"],
        stack_bytes=body["stackBytes"],
        max_tool_calls=body["maxToolCalls"],
        max_concurrency=body["maxConcurrency"],
        max_output_chars=body["maxOutputChars"],
        max_state_bytes=body.get("maxStateBytes", 0),
    )


def _lowered(asked: int | None, limit: int, *, field: str) -> int:
    if asked is None:
        return limit
    if asked > limit:
        raise InvalidInput(f"`{field}` {asked:,} is above the limit in force, {limit:,}.", field=field)
    return asked
