"""Workspaces: the default one, the configured ones, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from runs.workspaces import find_workspace, workspaces
from sandboxes.errors import ConfigInvalid, InvalidInput


@dataclass(frozen=True)
class Row:
    path: Path
    read_only: bool = False


def test_there_is_one_under_the_home_and_it_is_made(tmp_path):
    (workspace,) = workspaces({}, tmp_path / "home").values()
    assert (workspace.name, workspace.path, workspace.read_only) == ("default", tmp_path / "home" / "workspace", False)
    assert workspace.path.stat().st_mode & 0o777 == 0o700


def test_configured_ones_are_added_and_may_replace_the_default(tmp_path):
    rows = {"docs": Row(tmp_path / "docs", read_only=True), "default": Row(Path("mine"))}
    found = workspaces(rows, tmp_path / "home")
    assert (found["docs"].path, found["docs"].read_only) == (tmp_path / "docs", True)
    assert found["default"].path == tmp_path / "home" / "mine"


@pytest.mark.parametrize("path", [".", "..", "../home", "/"])
def test_none_may_hold_the_home_with_its_keys(tmp_path, path):
    (tmp_path / "home").mkdir()
    with pytest.raises(ConfigInvalid, match="home"):
        workspaces({"all": Row(Path(path))}, tmp_path / "home")


def test_a_link_to_the_home_is_seen_through(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path)
    with pytest.raises(ConfigInvalid):
        workspaces({"all": Row(tmp_path / "alias")}, tmp_path / "home")


def test_an_unknown_name_is_told_with_the_nearest(tmp_path):
    found = workspaces({"reports": Row(tmp_path / "reports")}, tmp_path / "home")
    with pytest.raises(InvalidInput) as caught:
        find_workspace(found, "report")
    assert (caught.value.field, caught.value.hint) == ("workspace", "Did you mean `reports`?")
    with pytest.raises(InvalidInput) as caught:
        find_workspace(found, "zzz" * 100)
    assert caught.value.hint == "There are `default`, `reports`."
    assert find_workspace(found, "reports").name == "reports"
