"""Each row of the settings table: its bounds, its type, and its direction of tightening. A new row is covered here."""

from __future__ import annotations

from typing import Any

import pytest

from forja_site.config import SETTINGS, Kind, Setting, Tighter
from tests.forja_site.files import Files, concrete, nested

PLAIN = [setting for setting in SETTINGS if ".NAME." not in setting.key]
NUMBERS = [setting for setting in SETTINGS if setting.kind in (Kind.INT, Kind.FLOAT)]
NEVER_RIGHT = [None, {}, {"a": {}}, -1, -0.5, [[]], [1], "", " ", "\ud800", "a\0b"]
WRONG: dict[Kind, list[Any]] = {
    Kind.BOOL: [0, 1, "true", "off", [], *NEVER_RIGHT],
    Kind.INT: [True, False, "1", "1e3", 1.5, 1e3, float("inf"), [], 10**30, *NEVER_RIGHT],
    Kind.FLOAT: [True, False, "1", [], 10**30, *NEVER_RIGHT],
    Kind.STR: [True, 0, 1.5, [], *NEVER_RIGHT],
    Kind.ENUM: [True, 0, "AUTO", "auto ", [], *NEVER_RIGHT],
    Kind.LIST: [True, 0, 1.5, "js_run", *(value for value in NEVER_RIGHT if value != [])],
    Kind.MAP: [True, 0, 1.5, [], "a=b", *(value for value in NEVER_RIGHT if value != {})],
}


def by_key(setting: Setting) -> str:
    return setting.key


def sound_value(setting: Setting) -> Any:
    samples = {Kind.STR: "x", Kind.LIST: ["x"], Kind.MAP: {"x": "y"}}
    return samples.get(setting.kind, setting.default_value())


def test_it_names_every_row_once() -> None:
    assert len({setting.key for setting in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS, ids=by_key)
def test_each_row_is_whole(setting: Setting) -> None:
    assert setting.help.endswith(".")
    default = setting.default_value()
    assert default is None or setting.accepts(list(default) if isinstance(default, tuple) else default)
    assert (setting.kind is Kind.ENUM) is bool(setting.choices)
    assert not setting.project or setting.tighter is not Tighter.NONE
    if setting.kind in (Kind.INT, Kind.FLOAT):
        assert setting.minimum is not None
        assert setting.maximum is not None
        assert setting.minimum < setting.maximum


@pytest.mark.parametrize("setting", SETTINGS, ids=by_key)
def test_each_row_takes_a_sound_value_from_the_global_file(files: Files, setting: Setting) -> None:
    value = sound_value(setting)
    key = concrete(setting.key)
    files.write_global(nested(key, value))
    entry = files.config().entry(key)
    assert entry.value == (tuple(value) if isinstance(value, list) else value)
    assert entry.source == "global file"


@pytest.mark.parametrize("setting", NUMBERS, ids=by_key)
def test_each_number_stops_at_its_bounds(setting: Setting) -> None:
    assert setting.minimum is not None
    assert setting.maximum is not None
    step = 1 if setting.kind is Kind.INT else 0.01
    assert setting.accepts(setting.minimum)
    assert setting.accepts(setting.maximum)
    assert not setting.accepts(setting.minimum - step)
    assert not setting.accepts(setting.maximum + step)
    assert str(setting.minimum) in setting.allowed
    assert str(setting.maximum) in setting.allowed


@pytest.mark.parametrize("setting", SETTINGS, ids=by_key)
def test_each_row_refuses_what_is_of_another_type(setting: Setting) -> None:
    taken = [value for value in WRONG[setting.kind] if setting.accepts(value)]
    assert taken == []


@pytest.mark.parametrize("setting", PLAIN, ids=by_key)
def test_each_row_makes_the_global_file_invalid_when_it_is_wrong(files: Files, setting: Setting) -> None:
    wrong = -1 if setting.kind is not Kind.LIST else "x"
    files.write_global(nested(setting.key, wrong))
    config = files.config()
    assert config.invalid_global
    [problem] = config.problems
    assert problem.key == setting.key
    assert problem.message.startswith(f"`{setting.key}` is ")
    assert setting.allowed in problem.message
    assert config[setting.key] == setting.default_value()


@pytest.mark.parametrize("setting", [setting for setting in SETTINGS if not setting.project], ids=by_key)
def test_each_global_only_row_is_ignored_in_a_project(files: Files, setting: Setting) -> None:
    key = concrete(setting.key)
    files.write_project(nested(key, sound_value(setting)))
    config = files.config()
    [problem] = config.project_problems
    assert (problem.severity, problem.key) == ("warning", key)
    assert key not in config.entries or config.entry(key).source == "default"


@pytest.mark.parametrize("setting", [setting for setting in PLAIN if setting.project], ids=by_key)
def test_each_row_of_a_project_goes_one_way_only(files: Files, setting: Setting) -> None:
    loose, tight = ends_of(setting)
    files.write_global(nested(setting.key, tight))
    files.write_project(nested(setting.key, loose))
    assert same(files.config()[setting.key], tight)
    files.write_global(nested(setting.key, loose))
    files.write_project(nested(setting.key, tight))
    assert same(files.config()[setting.key], tight)


def ends_of(setting: Setting) -> tuple[Any, Any]:
    """Give a loose and a tight value of the row."""
    match setting.tighter:
        case Tighter.SMALLER:
            return setting.maximum, setting.minimum
        case Tighter.LARGER:
            return setting.minimum, setting.maximum
        case Tighter.RETENTION:
            return 0, 1
        case Tighter.OFF:
            return True, False
        case Tighter.ORDER:
            return setting.choices[0], setting.choices[-1]
        case Tighter.ADD:
            return [], ["x"]
        case Tighter.NONE:
            raise AssertionError(f"{setting.key} has no direction")


def same(value: Any, expected: Any) -> bool:
    return bool(value == (tuple(expected) if isinstance(expected, list) else expected))
