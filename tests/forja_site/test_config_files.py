"""Hostile and broken configuration files: each is bounded, named, and refuses runs instead of loosening anything."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from forja_site.config import NotASwitch, write_switch
from forja_site.config_file import MAX_FILE_BYTES, Unreadable
from tests.forja_site.files import Files, nested

BROKEN = {
    "empty": ("", "not JSON"),
    "not JSON": ("{forge: 1}", "line 1, column 2"),
    "a list": ("[]", "outermost value must be an object"),
    "NaN": ('{"forge": {"javascript": {"timeoutMs": NaN}}}', "NaN"),
    "Infinity": ('{"forge": {"javascript": {"timeoutMs": -Infinity}}}', "Infinity"),
    "an exponent": ('{"forge": {"javascript": {"timeoutMs": 1e3}}}', "whole number"),
    "a bool for a number": ('{"forge": {"javascript": {"timeoutMs": true}}}', "is true, but must be"),
    "a number for a bool": ('{"forge": {"javascript": {"enabled": 0}}}', "true or false"),
    "a number of many digits": ('{"forge": {"javascript": {"timeoutMs": ' + "9" * 5_000 + "}}}", "not JSON"),
    "a group that is none": ('{"forge": {"javascript": false}}', "`forge.javascript` is a group of settings"),
    "an object for a value": ('{"forge": {"javascript": {"timeoutMs": {"value": 5}}}}', "whole number"),
    "the same name twice": ('{"forge": {}, "forge": {"state": {"enabled": false}}}', "`forge` is given twice"),
    "the same key in two ways": (
        '{"forge.state.enabled": false, "forge": {"state": {"enabled": true}}}',
        "`forge.state.enabled` is given twice",
    ),
    "too deep": ('{"a":' * 20 + "{}" + "}" * 20, "nested deeper than 8 levels"),
    "far too deep": ('{"a":' * 40_000, "nested too deep"),
    "too large": (" " * MAX_FILE_BYTES + "{}", "larger than"),
    "a lone surrogate": ('{"forge": {"scratch": {"root": "\\ud800"}}}', "must be a text"),
    "a NUL": ('{"forge": {"scratch": {"root": "/tmp/\\u0000"}}}', "must be a text"),
    "a server's map with a name twice": (
        '{"mcpServers": {"a": {"command": "b", "env": {"X": "1", "X": "2"}}}}',
        "the name `X` twice",
    ),
}


@pytest.mark.parametrize("text, words", BROKEN.values(), ids=BROKEN)
def test_it_refuses_a_broken_global_file_and_says_what_is_wrong(files: Files, text: str, words: str) -> None:
    files.write_global(text)
    config = files.config()
    assert config.invalid_global
    assert not config.invalid_project
    assert any(words in problem.message for problem in config.problems), config.problems
    assert config.problems[0].file == str(files.global_path)


def test_it_refuses_only_the_workspace_of_a_broken_project_file(files: Files) -> None:
    files.write_project("{")
    config = files.config()
    assert config.invalid_project
    assert not config.invalid_global
    assert config["forge.javascript.timeoutMs"] == 30_000


def test_it_refuses_a_file_that_is_not_utf_8(files: Files) -> None:
    files.write_global("{}")
    files.global_path.write_bytes(b'{"forge": "\xff"}')
    assert "not UTF-8 at byte 11" in files.config().problems[0].message


def test_it_takes_the_mark_that_some_editors_put_first(files: Files) -> None:
    files.write_global("\ufeff" + json.dumps(nested("forge.javascript.timeoutMs", 5_000)))
    assert files.config()["forge.javascript.timeoutMs"] == 5_000


def test_it_never_follows_a_link_that_a_project_planted(files: Files, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.json"
    target.write_text("{}")
    files.project_path.parent.mkdir(parents=True)
    files.project_path.symlink_to(target)
    config = files.config()
    assert config.invalid_project
    assert "symbolic link" in config.problems[0].message


@pytest.mark.parametrize("exists", [True, False])
def test_it_never_follows_a_link_in_place_of_the_folder(files: Files, tmp_path: Path, exists: bool) -> None:
    target = tmp_path / "elsewhere"
    if exists:
        target.mkdir()
        (target / "config.json").write_text("{}")
    files.project_path.parent.parent.mkdir(parents=True)
    files.project_path.parent.symlink_to(target)
    assert files.config().invalid_project


def test_it_does_not_hang_on_a_pipe(files: Files) -> None:
    files.project_path.parent.mkdir(parents=True)
    os.mkfifo(files.project_path)
    config = files.config()
    assert config.invalid_project
    assert "not a plain file" in config.problems[0].message


def test_it_refuses_a_file_that_it_may_not_read(files: Files) -> None:
    files.project_path.mkdir(parents=True)
    assert files.config().invalid_project
    files.project_path.rmdir()
    assert not files.config().invalid_project


def test_it_follows_the_owner_s_own_link_to_the_global_file(files: Files, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text(json.dumps(nested("forge.javascript.timeoutMs", 5_000)))
    files.global_path.parent.mkdir()
    files.global_path.symlink_to(target)
    assert files.config()["forge.javascript.timeoutMs"] == 5_000
    target.unlink()
    assert files.config().invalid_global


def test_it_bounds_how_many_unknown_keys_it_reports(files: Files) -> None:
    files.write_global({f"key{number}": 1 for number in range(5_000)})
    config = files.config()
    assert len(config.problems) == 100
    assert not config.invalid_global


def test_it_still_reports_an_error_after_many_unknown_keys(files: Files) -> None:
    files.write_global({f"key{number}": 1 for number in range(500)} | nested("forge.javascript.timeoutMs", -1))
    assert files.config().invalid_global


# ── Writing a switch ────────────────────────────────────────────────────────────────────────────


def test_it_writes_a_switch_and_keeps_everything_else(files: Files) -> None:
    kept = {"forge": {"javascript": {"timeoutMs": 5_000}, "guides": {"enabled": False}}, "other": [1, "ñ"]}
    files.write_global(kept)
    files.global_path.chmod(0o640)
    write_switch(files.global_path, "forge.javascript.enabled", False)
    written = json.loads(files.global_path.read_text(encoding="utf-8"))
    assert written == kept | {"forge": kept["forge"] | {"javascript": {"timeoutMs": 5_000, "enabled": False}}}  # type: ignore[operator]
    assert files.global_path.stat().st_mode & 0o777 == 0o640
    assert files.config()["forge.javascript.enabled"] is False
    assert [path.name for path in files.global_path.parent.iterdir()] == ["config.json"]


def test_it_writes_a_switch_into_a_home_without_a_file(files: Files) -> None:
    files.global_path.parent.mkdir()
    write_switch(files.global_path, "forge.guides.enabled", False)
    assert json.loads(files.global_path.read_text()) == nested("forge.guides.enabled", False)
    assert files.global_path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "tree",
    [
        {"forge.guides.enabled": True},
        {"forge.guides": {"enabled": True}},
        {"forge": {"guides.enabled": True}},
        {"forge": {"guides": {"enabled": True}}},
    ],
)
def test_it_writes_a_switch_where_the_file_has_it(files: Files, tree: dict[str, object]) -> None:
    files.write_global(tree)
    write_switch(files.global_path, "forge.guides.enabled", False)
    assert files.global_path.read_text().replace("false", "true") == json.dumps(tree, indent=2) + "\n"
    assert files.config()["forge.guides.enabled"] is False


@pytest.mark.parametrize(
    "key, value",
    [("forge.javascript.timeoutMs", 5), ("forge.state.enabled", False), ("nothing", True), ("forge.guides.enabled", 1)],
)
def test_it_writes_nothing_else(files: Files, key: str, value: bool) -> None:
    files.write_global({})
    with pytest.raises(NotASwitch):
        write_switch(files.global_path, key, value)
    assert files.global_path.read_text() == "{}"


@pytest.mark.parametrize("text", ["{", '{"forge": {}, "forge": {"a": 1}}'])
def test_it_does_not_write_over_a_file_it_cannot_keep(files: Files, text: str) -> None:
    files.write_global(text)
    with pytest.raises(Unreadable):
        write_switch(files.global_path, "forge.guides.enabled", False)
    assert files.global_path.read_text() == text


def test_it_loses_neither_of_two_switches_written_at_once(files: Files) -> None:
    files.write_global({})
    for _ in range(20):
        keys = ("forge.javascript.enabled", "forge.guides.enabled")
        writers = [threading.Thread(target=write_switch, args=(files.global_path, key, False)) for key in keys]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        both_off = {"javascript": {"enabled": False}, "guides": {"enabled": False}}
        assert json.loads(files.global_path.read_text()) == {"forge": both_off}
        files.write_global({})
