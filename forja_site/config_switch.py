"""Writing one switch into the global file from the web, and nothing else of it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forja_site.config_file import JsonObject, Unreadable, read_tree
from forja_site.config_rows import BY_KEY
from forja_site.whole_file import write_whole


class NotASwitch(ValueError):
    """The key is none that the web may write, or the value is neither true nor false."""


def write_switch(global_path: Path, key: str, value: bool) -> None:
    """Set one web-editable switch, atomically, keeping everything else in the file and its mode.

    Raises NotASwitch, or `config_file.Unreadable` when the file as it stands is not usable: what cannot be read
    cannot be kept.
    """
    setting = BY_KEY.get(key)
    if setting is None or not setting.web or not setting.accepts(value):
        raise NotASwitch(f"`{key}` is no switch that can be set to {value!r} here")
    target = Path(os.path.realpath(global_path))
    with _locked(target.parent):
        tree = read_tree(target, own=True) if target.exists() else JsonObject()
        _refuse_duplicates(tree)
        _set(tree, key.split("."), value)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        write_whole(target, json.dumps(tree, indent=2, ensure_ascii=False) + "\n", mode=mode)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    # Two people may flip two switches in two web processes at once.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _refuse_duplicates(tree: Any) -> None:
    if isinstance(tree, JsonObject):
        if tree.duplicates:
            raise Unreadable(f"`{tree.duplicates[0]}` is given twice; keep one")
        for value in tree.values():
            _refuse_duplicates(value)


def _set(tree: dict[str, Any], parts: list[str], value: bool) -> None:
    """Put the value where the file has the key, written nested or with dots; else at its nested place."""
    for count in range(len(parts), 0, -1):
        name, rest = ".".join(parts[:count]), parts[count:]
        if name in tree and (not rest or isinstance(tree[name], dict)):
            break
    if rest:
        _set(tree.setdefault(name, JsonObject()), rest, value)
    else:
        tree[name] = value
