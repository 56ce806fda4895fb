"""Configuration files for a test: a home's and a workspace's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forja_site.config import Config, effective


@dataclass(frozen=True)
class Files:
    """Writes the two files and reads what is in force."""

    folder: Path

    @property
    def global_path(self) -> Path:
        return self.folder / "home" / "config.json"

    @property
    def project_path(self) -> Path:
        return self.folder / "work" / ".forja" / "config.json"

    def write_global(self, tree: Any) -> None:
        _write(self.global_path, tree)

    def write_project(self, tree: Any) -> None:
        _write(self.project_path, tree)

    def config(self, environ: dict[str, str] | None = None) -> Config:
        return effective(self.global_path, self.project_path, environ)


def _write(path: Path, tree: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree), encoding="utf-8")


def nested(key: str, value: Any) -> dict[str, Any]:
    """Write a dotted key as files do: `a.b` becomes `{"a": {"b": value}}`."""
    tree: Any = value
    for part in reversed(key.split(".")):
        tree = {part: tree}
    return dict(tree)


def concrete(key: str) -> str:
    """Give a key as a file would have it: the NAME of a family is somebody's name."""
    return key.replace(".NAME.", ".reports.")
