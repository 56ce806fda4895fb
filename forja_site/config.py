"""The effective configuration: the settings table, the global file, a project's file, and where each value came from.

A project may only tighten: what would loosen, or is global only, is ignored with a warning. A file that is wrong in
type or range is invalid as a whole: nothing runs under it until it is mended, so that no slip ever loosens anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from forja_site.config_families import McpServer, Workspace, read_mcp_servers, read_workspaces
from forja_site.config_file import Problem, Signature, Unreadable, read_tree, signature
from forja_site.config_rows import SETTINGS
from forja_site.config_setting import Kind, Setting, Tighter
from forja_site.config_switch import NotASwitch, write_switch
from forja_site.config_walk import NAME, Walk, find_setting

__all__ = [
    "SETTINGS",
    "Config",
    "Entry",
    "Kind",
    "McpServer",
    "NotASwitch",
    "Problem",
    "Setting",
    "Tighter",
    "Workspace",
    "effective",
    "write_switch",
]

DEFAULT = "default"
GLOBAL_FILE = "global file"
PROJECT_FILE = "project file"
TMPDIR_VARIABLE = "ALISIO_TMPDIR"
ENVIRONMENT = f"environment {TMPDIR_VARIABLE}"
_MAX_CACHED = 256


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One effective value: `source` is where it came from; a project may not go beyond `ceiling`."""

    key: str
    value: Any
    source: str
    setting: Setting
    ceiling: Any

    @property
    def maximum(self) -> float | None:
        return self.setting.maximum


@dataclass(frozen=True, kw_only=True)
class Config:
    """Every effective value by key, and what is wrong with the files."""

    global_path: Path
    entries: Mapping[str, Entry]
    global_problems: tuple[Problem, ...] = ()
    project_problems: tuple[Problem, ...] = ()
    workspaces: Mapping[str, Workspace] = field(default_factory=dict)
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        """Give the value in force."""
        return self.entries[key].value

    def entry(self, key: str) -> Entry:
        return self.entries[key]

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.global_problems + self.project_problems

    @property
    def invalid_global(self) -> bool:
        """Must every run be refused until the global file is mended?"""
        return _has_error(self.global_problems)

    @property
    def invalid_project(self) -> bool:
        """Must the runs of this workspace be refused until its file is mended?"""
        return _has_error(self.project_problems)

    @property
    def refusal(self) -> Problem | None:
        """Give the first problem that refuses runs, or None."""
        return next((problem for problem in self.problems if problem.severity == "error"), None)


_trees: dict[tuple[Path, bool], tuple[Signature, Walk]] = {}
_configs: dict[tuple[Any, ...], Config] = {}


def effective(global_path: Path, project_path: Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """Give the effective configuration; cheap to call for each request (one or two `stat` calls when nothing changed).

    `global_path` is `$FORJA_HOME/config.json`, `project_path` a workspace's `.forja/config.json`; neither has to
    exist. Of `environ` only ALISIO_TMPDIR is read.
    """
    tmpdir = (environ or {}).get(TMPDIR_VARIABLE, "")
    outer = _read(global_path, own=True)
    inner = _read(project_path, own=False) if project_path is not None else None
    key = (global_path, project_path, tmpdir, outer, inner)
    config = _configs.get(key)
    if config is None:
        _bound(_configs)
        config = _configs[key] = _combine(global_path, outer, inner, tmpdir)
    return config


def _read(path: Path, *, own: bool) -> Walk:
    before = signature(path, own=own)
    cached = _trees.get((path, own))
    if cached is not None and cached[0] == before:
        return cached[1]
    walk = Walk(file=str(path), skip=_skip_nothing if own else _skip_in_project)
    if before is not None:
        try:
            walk.take(read_tree(path, own=own))
        except Unreadable as error:
            walk.error("", f"the file is not usable: {error}")
    _bound(_trees)
    # A file that changes while it is read has another signature at the next call, and is read again then.
    _trees[path, own] = (before, walk)
    return walk


def _bound(cache: dict[Any, Any]) -> None:
    if len(cache) >= _MAX_CACHED:
        cache.clear()


def _skip_nothing(setting: Setting) -> str:
    return ""


def _skip_in_project(setting: Setting) -> str:
    return "" if setting.project else "only the global file may set it"


def _combine(global_path: Path, outer: Walk, inner: Walk | None, tmpdir: str) -> Config:
    entries = _outer_entries(outer)
    if tmpdir:
        entries["forge.scratch.root"] = _entry("forge.scratch.root", tmpdir, ENVIRONMENT)
    found, workspace_problems = read_workspaces(outer.values, home=global_path.parent, file=outer.file)
    servers, server_problems = read_mcp_servers(outer.values, file=outer.file)
    tightened, refused = _tighten(entries, inner) if inner else ({}, ())
    return Config(
        global_path=global_path,
        entries=entries | tightened,
        global_problems=(*outer.problems, *workspace_problems, *server_problems),
        project_problems=(*inner.problems, *refused) if inner else (),
        workspaces=found,
        mcp_servers=servers,
    )


def _outer_entries(outer: Walk) -> dict[str, Entry]:
    defaults = {
        setting.key: _entry(setting.key, setting.default_value(), DEFAULT)
        for setting in SETTINGS
        if f".{NAME}." not in setting.key
    }
    return defaults | {key: _entry(key, value, GLOBAL_FILE) for key, value in outer.values.items()}


def _tighten(entries: Mapping[str, Entry], inner: Walk) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    tightened = {}
    refused = []
    for key, value in inner.values.items():
        outer = entries[key]
        if outer.setting.is_looser(value, than=outer.value):
            refused.append(_refused(inner.file, outer, value))
        else:
            tightened[key] = replace(outer, value=_merged(outer, value), source=PROJECT_FILE)
    return tightened, tuple(refused)


def _merged(outer: Entry, value: Any) -> Any:
    if outer.setting.tighter is Tighter.ADD:
        return tuple(dict.fromkeys((*outer.value, *value)))
    return value


def _refused(file: str, outer: Entry, value: Any) -> Problem:
    shown, in_force = json.dumps(value), json.dumps(outer.value)
    message = (
        f"`{outer.key}` is ignored: a project may only tighten it ({outer.setting.tighter}),"
        f" and {shown} is looser than {in_force}, which stays in force"
    )
    return Problem(severity="warning", file=file, key=outer.key, value=shown, message=message)


def _entry(key: str, value: Any, source: str) -> Entry:
    setting = find_setting(key)
    assert setting is not None, key
    return Entry(key=key, value=value, source=source, setting=setting, ceiling=value)


def _has_error(problems: Iterable[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)
