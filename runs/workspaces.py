"""Workspaces: the folders the file tools may see, by the names they have in the configuration."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runs.tools.paths import Parts, PlaceName
from runs.tools.writing import write_file
from sandboxes.base import StopSignal
from sandboxes.errors import ConfigInvalid, InvalidInput, NotFound

DEFAULT_WORKSPACE = "default"
PROJECT_FOLDER = b".forja"


class ConfiguredWorkspace(Protocol):
    """`workspaces.NAME` as the configuration gives it."""

    @property
    def path(self) -> Path: ...

    @property
    def read_only(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """One workspace, as a place for the file tools; its `.forja` folder stays out of their sight."""

    name: str
    path: Path
    read_only: bool = False

    @property
    def kind(self) -> PlaceName:
        return "workspace"

    @property
    def reserved(self) -> bytes | None:
        return PROJECT_FOLDER

    @contextmanager
    def open_root(self) -> Iterator[int]:
        """Give a handle on the folder; raises NotFound when it is not there."""
        try:
            # The path is the administrator's, so links in it are followed; below it none is.
            fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            raise NotFound(
                f"The folder of workspace `{self.name}` is missing or cannot be read.",
                hint=f"Ask whoever runs Forja to make it, or to correct `workspaces.{self.name}.path`.",
            ) from None
        try:
            yield fd
        finally:
            os.close(fd)

    def write(self, parts: Parts, data: bytes, *, append: bool, stop: StopSignal) -> int:
        with self.open_root() as root_fd:
            return write_file(root_fd, parts, data, append=append, stop=stop, reserved=self.reserved)


def workspaces(configured: Mapping[str, ConfiguredWorkspace], home: Path) -> dict[str, Workspace]:
    """Give every workspace by name; `default` is `<home>/workspace` unless configured, and made when missing.

    Raises ConfigInvalid for a workspace that would show Forja's own home, keys and database included.
    """
    found = {DEFAULT_WORKSPACE: Workspace(name=DEFAULT_WORKSPACE, path=home / "workspace")}
    for name, row in configured.items():
        found[name] = Workspace(name=name, path=home / row.path, read_only=row.read_only)
    for workspace in found.values():
        _refuse_home(workspace, home)
    _make_default(found[DEFAULT_WORKSPACE], home)
    return found


def _refuse_home(workspace: Workspace, home: Path) -> None:
    if home.resolve().is_relative_to(workspace.path.resolve()):
        raise ConfigInvalid(
            f"`workspaces.{workspace.name}.path` holds Forja's own home.",
            hint="Choose a folder beside or below it, or start Forja with FORJA_HOME somewhere else.",
            field=f"workspaces.{workspace.name}.path",
        )


def _make_default(workspace: Workspace, home: Path) -> None:
    if workspace.path == home / "workspace":
        workspace.path.mkdir(mode=0o700, parents=True, exist_ok=True)


def find_workspace(known: Mapping[str, Workspace], name: str) -> Workspace:
    """Give the workspace of this name; raises InvalidInput with the nearest one."""
    if name in known:
        return known[name]
    shown = name[:100]
    near = difflib.get_close_matches(shown, list(known), n=1)
    hint = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(f'`{each}`' for each in sorted(known))}."
    raise InvalidInput(f"There is no workspace `{shown}`.", hint=hint, field="workspace")
