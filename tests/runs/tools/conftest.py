"""A workspace and a scratchpad in a private folder, and calls made as a script makes them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from runs.scratchpad import Scratchpad, open_scratchpad
from runs.tools.file_tools import FILE_TOOLS
from runs.tools.gate import Permissions
from runs.tools.registry import CallContext, Registry, call_nested
from runs.workspaces import Workspace
from sandboxes.base import StopSignal
from sandboxes.errors import ForjaError
from tests.fixture_tools import tools


@dataclass(kw_only=True)
class Box:
    """Everything a nested call needs; `root` is the workspace's folder."""

    workspace: Workspace
    scratch: Scratchpad | None
    permissions: Permissions = field(default_factory=lambda: Permissions(allow=("write_file", "fx.*")))
    read_only: bool = False
    stop: StopSignal = field(default_factory=StopSignal)
    registry: Registry = field(default_factory=lambda: Registry([*FILE_TOOLS, *tools()]))

    @property
    def root(self) -> Path:
        return self.workspace.path

    def text(self, name: str, arguments_json: str) -> str:
        context = CallContext(
            run_id="run-1",
            session_id="session-1",
            workspace=self.workspace,
            scratch=self.scratch,
            read_only=self.read_only,
            stop=self.stop,
            nested=True,
        )
        return call_nested(self.registry, self.permissions, name, arguments_json, context)

    def call(self, name: str, /, **arguments: Any) -> Any:
        return json.loads(self.text(name, json.dumps(arguments)))

    def refused(self, name: str, /, **arguments: Any) -> ForjaError:
        with pytest.raises(ForjaError) as caught:
            self.call(name, **arguments)
        return caught.value

    def paths(self, **arguments: Any) -> list[str]:
        return [entry["path"] for entry in self.call("list_files", **arguments)["entries"]]


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    monkeypatch.setenv("FX_DIR", str(tmp_path / "fx"))
    (tmp_path / "workspace").mkdir()
    base = tmp_path / "base"
    base.mkdir(mode=0o700)
    scratch = open_scratchpad(
        base=base, home=tmp_path, workspace="default", session_id="session-1", max_bytes=10_000_000
    )
    return Box(workspace=Workspace(name="default", path=tmp_path / "workspace"), scratch=scratch)


@pytest.fixture
def open_handles() -> Any:
    """Count this process's open handles, to see that none is left behind."""
    return lambda: len(os.listdir("/proc/self/fd"))
