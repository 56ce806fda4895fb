"""What is in force: a global file, a project that may only tighten, and the environment (case B104)."""

from __future__ import annotations

import pytest

from forja_site.config import SETTINGS
from tests.forja_site.files import Files, nested

TIMEOUT_KEY = "forge.javascript.timeoutMs"


def test_it_gives_every_default_without_any_file(files: Files) -> None:
    config = files.config()
    assert config.problems == ()
    for setting in SETTINGS:
        if ".NAME." not in setting.key:
            assert config[setting.key] == setting.default_value()
            assert config.entry(setting.key).source == "default"


def test_it_has_the_defaults_of_the_reference(files: Files) -> None:
    config = files.config()
    assert config["forge.javascript.enabled"] is True
    assert config["forge.javascript.timeoutMs"] == 30_000
    assert config["forge.javascript.memoryBytes"] == 33_554_432
    assert config["forge.javascript.stackBytes"] == 262_144
    assert config["forge.javascript.maxToolCalls"] == 50
    assert config["forge.state.maxTotalBytes"] == 524_288
    assert config["forge.scratch.maxBytes"] == 268_435_456
    assert config["forge.scratch.retentionDays"] == 7
    assert config["analysis.limits.maxFileBytes"] == 104_857_600
    assert config["forge.queue.slots"] >= 4


def test_it_refuses_a_project_that_raises_a_limit(files: Files) -> None:
    files.write_global(nested(TIMEOUT_KEY, 60_000))
    files.write_project(nested(TIMEOUT_KEY, 120_000))
    config = files.config()
    assert config[TIMEOUT_KEY] == 60_000
    assert config.entry(TIMEOUT_KEY).source == "global file"
    [problem] = config.project_problems
    assert problem.severity == "warning"
    assert problem.file == str(files.project_path)
    assert problem.key == TIMEOUT_KEY
    assert "120000" in problem.message
    assert "60000" in problem.message
    assert not config.invalid_project


def test_it_refuses_minus_one_as_a_broken_project_file(files: Files) -> None:
    files.write_global(nested(TIMEOUT_KEY, 60_000))
    files.write_project(nested(TIMEOUT_KEY, -1))
    config = files.config()
    assert config[TIMEOUT_KEY] == 60_000
    assert config.invalid_project
    assert not config.invalid_global
    assert config.refusal is not None
    assert config.refusal.message == (
        "`forge.javascript.timeoutMs` is -1, but must be a whole number from 1 to 300000 (milliseconds)"
    )


def test_it_takes_a_project_that_lowers_a_limit(files: Files) -> None:
    files.write_global(nested(TIMEOUT_KEY, 60_000))
    files.write_project(nested(TIMEOUT_KEY, 30_000))
    entry = files.config().entry(TIMEOUT_KEY)
    assert entry.value == 30_000
    assert entry.source == "project file"
    assert entry.ceiling == 60_000
    assert entry.maximum == 300_000


def test_it_ignores_a_global_only_key_in_a_project_whatever_its_value(files: Files) -> None:
    files.write_project(nested("forge.javascript.memoryBytes", "everything"))
    config = files.config()
    assert config["forge.javascript.memoryBytes"] == 33_554_432
    [problem] = config.project_problems
    assert problem.severity == "warning"
    assert problem.file == str(files.project_path)
    assert "forge.javascript.memoryBytes" in problem.message
    assert "only the global file" in problem.message


def test_it_keeps_off_what_the_global_file_switched_off(files: Files) -> None:
    files.write_global(nested("forge.javascript.enabled", False))
    files.write_project(nested("forge.javascript.enabled", True))
    config = files.config()
    assert config["forge.javascript.enabled"] is False
    assert [problem.key for problem in config.project_problems] == ["forge.javascript.enabled"]


def test_it_lets_a_project_switch_a_feature_off(files: Files) -> None:
    files.write_project(nested("forge.javascript.enabled", False))
    config = files.config()
    assert config["forge.javascript.enabled"] is False
    assert config.problems == ()


@pytest.mark.parametrize(
    "outer, inner, in_force",
    [
        ("strict", "preferred", "strict"),
        ("strict", "required", "strict"),
        ("required", "strict", "strict"),
        ("preferred", "required", "required"),
        ("required", "required", "required"),
    ],
)
def test_it_only_lets_isolation_get_stricter(files: Files, outer: str, inner: str, in_force: str) -> None:
    files.write_global(nested("analysis.isolation", outer))
    files.write_project(nested("analysis.isolation", inner))
    assert files.config()["analysis.isolation"] == in_force


@pytest.mark.parametrize(
    "outer, inner, in_force",
    [(7, 3, 3), (7, 30, 7), (7, 0, 7), (0, 365, 365), (0, 0, 0)],
    ids=["shorter", "longer", "never is the loosest", "from never", "equal"],
)
def test_it_takes_zero_days_of_retention_for_the_loosest(files: Files, outer: int, inner: int, in_force: int) -> None:
    files.write_global(nested("forge.scratch.retentionDays", outer))
    files.write_project(nested("forge.scratch.retentionDays", inner))
    assert files.config()["forge.scratch.retentionDays"] == in_force


def test_it_adds_a_project_s_ask_and_deny_to_the_global_ones(files: Files) -> None:
    files.write_global({"permissions": {"deny": ["web.*"], "allow": ["notes.*"]}})
    files.write_project({"permissions": {"deny": ["mail.*", "web.*"], "ask": ["write_file"], "allow": ["*"]}})
    config = files.config()
    assert config["permissions.deny"] == ("web.*", "mail.*")
    assert config["permissions.ask"] == ("write_file",)
    assert config["permissions.allow"] == ("notes.*",)
    assert [problem.key for problem in config.project_problems] == ["permissions.allow"]


@pytest.mark.parametrize(
    "tree, key, nearest",
    [
        ({"forge": {"javascript": {"timeout": 5}}}, "forge.javascript.timeout", TIMEOUT_KEY),
        ({"forge": {"Javascript": {"timeoutMs": 5}}}, "forge.Javascript.timeoutMs", TIMEOUT_KEY),
        ({"forge": {"timeoutMs": 5}}, "forge.timeoutMs", TIMEOUT_KEY),
        ({"javascript": {"timeoutMs": 5}}, "javascript.timeoutMs", TIMEOUT_KEY),
        ({"forge": {"javascript": {"enabeld": False}}}, "forge.javascript.enabeld", "forge.javascript.enabled"),
        ({"permission": {"deny": ["x"]}}, "permission.deny", "permissions.deny"),
        ({"workspaces": {"a": {"readonly": True}}}, "workspaces.a.readonly", "workspaces.a.readOnly"),
        ({"colour": "red"}, "colour", ""),
    ],
)
def test_it_reports_an_unknown_key_with_the_nearest_known_one(
    files: Files, tree: dict[str, object], key: str, nearest: str
) -> None:
    files.write_global(tree)
    [problem] = files.config().problems
    assert (problem.severity, problem.key, problem.nearest) == ("warning", key, nearest)
    assert f"`{key}` is not a setting" in problem.message
    assert (f"did you mean `{nearest}`?" in problem.message) is bool(nearest)


def test_it_lets_the_environment_win_over_the_scratch_root(files: Files) -> None:
    files.write_global(nested("forge.scratch.root", "/srv/scratch"))
    assert files.config()["forge.scratch.root"] == "/srv/scratch"
    entry = files.config({"ALISIO_TMPDIR": "/srv/elsewhere"}).entry("forge.scratch.root")
    assert (entry.value, entry.source) == ("/srv/elsewhere", "environment ALISIO_TMPDIR")


def test_it_sees_a_change_of_either_file_at_the_next_call(files: Files) -> None:
    files.write_global(nested(TIMEOUT_KEY, 60_000))
    assert files.config()[TIMEOUT_KEY] == 60_000
    files.write_project(nested(TIMEOUT_KEY, 2_000))
    assert files.config()[TIMEOUT_KEY] == 2_000
    files.write_global(nested(TIMEOUT_KEY, 1_000))
    assert files.config()[TIMEOUT_KEY] == 1_000
    files.project_path.unlink()
    assert files.config().entry(TIMEOUT_KEY).source == "global file"


def test_it_gives_the_very_same_answer_while_nothing_changes(files: Files) -> None:
    files.write_global(nested(TIMEOUT_KEY, 60_000))
    assert files.config() is files.config()


def test_it_applies_the_sound_values_of_an_invalid_global_file_but_refuses_runs(files: Files) -> None:
    files.write_global({"forge": {"javascript": {"timeoutMs": "soon", "maxToolCalls": 5}}})
    config = files.config()
    assert config.invalid_global
    assert config["forge.javascript.maxToolCalls"] == 5
    assert config[TIMEOUT_KEY] == 30_000


def test_it_takes_keys_written_with_dots(files: Files) -> None:
    files.write_global({"forge.javascript.timeoutMs": 45_000, "forge": {"javascript.maxToolCalls": 7}})
    config = files.config()
    assert config.problems == ()
    assert (config[TIMEOUT_KEY], config["forge.javascript.maxToolCalls"]) == (45_000, 7)


def test_it_finds_the_workspaces_with_the_default_one_first(files: Files) -> None:
    files.write_global({"workspaces": {"reports": {"path": "/srv/reports", "readOnly": True}, "near": {"path": "n"}}})
    found = files.config().workspaces
    home = files.global_path.parent
    assert list(found) == ["default", "reports", "near"]
    assert found["default"].path == home / "workspace"
    assert (str(found["reports"].path), found["reports"].read_only) == ("/srv/reports", True)
    assert found["near"].path == home / "n"


def test_it_finds_the_mcp_servers_as_clients_write_them(files: Files) -> None:
    files.write_global(
        {
            "mcpServers": {
                "files": {"command": "serve-files", "args": ["--root", "."], "env": {"TOKEN": "s3cret"}},
                "web": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer s3cret"}},
            }
        }
    )
    config = files.config()
    assert config.problems == ()
    assert config.mcp_servers["files"].args == ("--root", ".")
    assert config.mcp_servers["files"].env == {"TOKEN": "s3cret"}
    assert config.mcp_servers["web"].url == "https://example.com/mcp"
    assert "s3cret" not in repr(config.mcp_servers)


@pytest.mark.parametrize(
    "server, wrong",
    [
        ({"command": "a", "url": "https://b"}, "either"),
        ({"args": ["a"]}, "either"),
        ({"url": "ftp://b"}, "http://"),
        ({"url": "https://b", "env": {"A": "b"}}, "does not go with"),
    ],
)
def test_it_refuses_an_mcp_server_that_is_not_whole(files: Files, server: dict[str, object], wrong: str) -> None:
    files.write_global({"mcpServers": {"one": server}})
    config = files.config()
    assert config.invalid_global
    assert config.mcp_servers == {}
    assert wrong in config.problems[0].message


def test_it_never_shows_a_secret_in_a_problem(files: Files) -> None:
    files.write_global({"mcpServers": {"one": {"command": "a", "env": ["s3cret"]}}})
    config = files.config()
    assert config.invalid_global
    assert not any("s3cret" in str(problem) + problem.value for problem in config.problems)
