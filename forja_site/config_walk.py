"""From a configuration file's tree to checked values and problems."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from forja_site.config_file import JsonObject, Problem
from forja_site.config_nearest import MAX_KEY_CHARS, nearest_key
from forja_site.config_rows import BY_KEY, SETTINGS
from forja_site.config_setting import Kind, Setting

MAX_DEPTH = 8
MAX_PROBLEMS = 100
NAME = "NAME"

_FAMILIES = {setting.key.split(".")[0] for setting in SETTINGS if f".{NAME}." in setting.key}
_GROUPS = {key.rsplit(".", count)[0] for key in BY_KEY for count in range(1, key.count(".") + 1)}
# No dot: it parts the name of a server from that of its tool.
_GOOD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)

Skip = Callable[[Setting], str]


@dataclass(kw_only=True, eq=False)
class Walk:
    """What a file says: `values` by key, and `problems` in the order of the file.

    `skip` gives the reason to ignore a row in this file, or an empty text.
    """

    file: str
    skip: Skip = lambda setting: ""
    values: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def take(self, tree: JsonObject) -> Walk:
        self._object(tree, key="", depth=1)
        return self

    def _object(self, tree: JsonObject, *, key: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.error(key, f"`{_short(key)}` is nested deeper than {MAX_DEPTH} levels")
            return
        for name in tree.duplicates:
            self.error(_join(key, name), f"`{_short(_join(key, name))}` is given twice; keep one")
        for name, value in tree.items():
            self._entry(_join(key, name), value, depth=depth)

    def _entry(self, key: str, value: Any, *, depth: int) -> None:
        setting = find_setting(key)
        if setting is not None:
            self._value(setting, key, value)
        elif _is_group(key) and not isinstance(value, JsonObject):
            self.error(key, f"`{key}` is a group of settings and must be an object, not {_kind(value)}")
        elif isinstance(value, JsonObject) and (value or _is_group(key)):
            self._object(value, key=key, depth=depth + 1)
        else:
            self._unknown(key)

    def _value(self, setting: Setting, key: str, value: Any) -> None:
        shown = "" if setting.secret else _short(_as_json(value))
        if key in self.values:
            self.error(key, f"`{key}` is given twice; keep one")
        elif reason := self.skip(setting):
            self.warn(key, f"`{key}` is ignored: {reason}", value=shown)
        elif isinstance(value, JsonObject) and value.duplicates:
            self.error(key, f"`{key}` has the name `{_short(value.duplicates[0])}` twice; keep one")
        elif not setting.accepts(value):
            found = shown or _kind(value)
            self.error(key, f"`{key}` is {found}, but must be {setting.allowed}", value=shown)
        else:
            self.values[key] = _frozen(setting, value)

    def _unknown(self, key: str) -> None:
        nearest = nearest_key(key, _candidates(key))
        also = f"; did you mean `{nearest}`?" if nearest else ""
        self.warn(key, f"`{_short(key)}` is not a setting and is ignored{also}", nearest=nearest)

    def error(self, key: str, message: str, *, value: str = "") -> None:
        self.problems.append(Problem(severity="error", file=self.file, key=_short(key), message=message, value=value))

    def warn(self, key: str, message: str, *, value: str = "", nearest: str = "") -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(
                Problem(
                    severity="warning", file=self.file, key=_short(key), message=message, value=value, nearest=nearest
                )
            )


def find_setting(key: str) -> Setting | None:
    """Give the row of a key as files write it: `workspaces.reports.path` has the row `workspaces.NAME.path`."""
    parts = key.split(".")
    if len(parts) == 3 and parts[0] in _FAMILIES and _GOOD_NAME.fullmatch(parts[1]):
        return BY_KEY.get(f"{parts[0]}.{NAME}.{parts[2]}")
    return BY_KEY.get(key) if f".{NAME}." not in key else None


def _is_group(key: str) -> bool:
    parts = key.split(".")
    return key in _GROUPS or (len(parts) == 2 and parts[0] in _FAMILIES and bool(_GOOD_NAME.fullmatch(parts[1])))


def _candidates(key: str) -> list[str]:
    parts = key.split(".")
    name = parts[1] if len(parts) == 3 and _GOOD_NAME.fullmatch(parts[1]) else NAME
    return [known.replace(f".{NAME}.", f".{name}.") for known in BY_KEY]


def _frozen(setting: Setting, value: Any) -> Any:
    return tuple(value) if setting.kind is Kind.LIST else value


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value)
    except RecursionError:
        return _kind(value)


def _short(text: str) -> str:
    clean = text.encode("utf-8", "backslashreplace").decode()
    return clean if len(clean) <= MAX_KEY_CHARS else clean[: MAX_KEY_CHARS - 1] + "…"


def _kind(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return "a text"
        case bool() | None:
            return json.dumps(value)
        case _:
            return "a number"
