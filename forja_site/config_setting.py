"""One setting: its row in the table, what a value may be, and which of two values is tighter."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_TEXT_CHARS = 4096
MAX_LIST_ITEMS = 1000

Check = Callable[["Setting", Any], bool]


class Kind(enum.StrEnum):
    """The JSON type of a value."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STR = "str"
    ENUM = "enum"
    LIST = "list"
    MAP = "map"


class Tighter(enum.StrEnum):
    """Which way a value gets tighter."""

    NONE = "none"
    SMALLER = "smaller"
    LARGER = "larger"
    OFF = "off only"
    ORDER = "later choice"
    RETENTION = "smaller, where 0 means never and is the loosest"
    ADD = "add only"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One row of the settings table.

    `default` is the value, or a function where the machine decides. `choices` go from the loosest to the tightest
    when `tighter` is ORDER. `project` says that a project may tighten the value; without it the key is global only.
    A `key` with the part NAME stands for one entry of a family. The text of a `secret` row is never shown.
    """

    key: str
    kind: Kind
    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    tighter: Tighter = Tighter.NONE
    project: bool = False
    web: bool = False
    secret: bool = False
    unit: str = ""

    @property
    def scope(self) -> str:
        return "project may tighten" if self.project else "global only"

    @property
    def allowed(self) -> str:
        """Say in words what a value may be."""
        return _WORDS[self.kind](self)

    def default_value(self) -> Any:
        return self.default() if callable(self.default) else self.default

    def accepts(self, value: Any) -> bool:
        """Is this JSON value of the right type and inside the bounds?"""
        return _CHECKS[self.kind](self, value)

    def is_looser(self, value: Any, *, than: Any) -> bool:
        """Would `value` allow more than `than`?"""
        return _LOOSER[self.tighter](self, value, than)


def is_plain_text(value: Any) -> bool:
    """Is this a bounded string that a file system and UTF-8 can hold?"""
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS or "\0" in value:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _is_number(setting: Setting, value: Any, types: tuple[type, ...]) -> bool:
    # In Python a bool is an int; in a configuration file it is not.
    if type(value) not in types:
        return False
    above = setting.minimum is None or value >= setting.minimum
    return above and (setting.maximum is None or value <= setting.maximum)


def _is_text_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MAX_LIST_ITEMS and all(is_plain_text(item) for item in value)


def _is_text_map(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) > MAX_LIST_ITEMS:
        return False
    return all(is_plain_text(name) and is_plain_text(text) for name, text in value.items())


_CHECKS: dict[Kind, Check] = {
    Kind.BOOL: lambda setting, value: isinstance(value, bool),
    Kind.INT: lambda setting, value: _is_number(setting, value, (int,)),
    Kind.FLOAT: lambda setting, value: _is_number(setting, value, (int, float)),
    Kind.STR: lambda setting, value: is_plain_text(value) and value.strip() != "",
    Kind.ENUM: lambda setting, value: isinstance(value, str) and value in setting.choices,
    Kind.LIST: lambda setting, value: _is_text_list(value),
    Kind.MAP: lambda setting, value: _is_text_map(value),
}


def _range(setting: Setting) -> str:
    unit = f" ({setting.unit})" if setting.unit else ""
    return f"from {setting.minimum} to {setting.maximum}{unit}"


_WORDS: dict[Kind, Callable[[Setting], str]] = {
    Kind.BOOL: lambda setting: "true or false",
    Kind.INT: lambda setting: f"a whole number {_range(setting)}",
    Kind.FLOAT: lambda setting: f"a number {_range(setting)}",
    Kind.STR: lambda setting: "a text that is not empty",
    Kind.ENUM: lambda setting: "one of " + ", ".join(f'"{choice}"' for choice in setting.choices),
    Kind.LIST: lambda setting: "a list of texts",
    Kind.MAP: lambda setting: "an object whose values are texts",
}


def _retention(days: Any) -> float:
    return float("inf") if days == 0 else days


_LOOSER: dict[Tighter, Callable[[Setting, Any, Any], bool]] = {
    Tighter.NONE: lambda setting, value, than: value != than,
    Tighter.SMALLER: lambda setting, value, than: value > than,
    Tighter.LARGER: lambda setting, value, than: value < than,
    Tighter.OFF: lambda setting, value, than: value and not than,
    Tighter.ORDER: lambda setting, value, than: setting.choices.index(value) < setting.choices.index(than),
    Tighter.RETENTION: lambda setting, value, than: _retention(value) > _retention(than),
    Tighter.ADD: lambda setting, value, than: False,
}
