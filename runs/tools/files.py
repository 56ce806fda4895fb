"""What our four file tools do: list_files, read_file, search_text, write_file, in a workspace or a scratchpad."""

from __future__ import annotations

import itertools
import os
from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, TypeVar

from runs.tools.confine import open_file, open_folder
from runs.tools.globs import Glob
from runs.tools.paths import Parts, parse_path, show_path, split_place
from runs.tools.places import Place
from runs.tools.reading import read_slice
from runs.tools.searching import MAX_FILE_BYTES, Hit, Needle, needle, search_file
from runs.tools.tool import CallContext
from runs.tools.walking import Entry, Walk
from sandboxes.errors import Disabled, InvalidInput, NotFound, PermissionDenied

Item = TypeVar("Item")


def list_files(arguments: dict[str, Any], context: CallContext) -> dict[str, Any]:
    """Give `{entries: [{path, type, bytes?, modified}], truncated}`, by path; `bytes` is there for files alone."""
    place, parts = _locate(arguments["path"], context)
    walk = Walk(stop=context.stop, glob=Glob(arguments["glob"]), reserved=place.reserved)
    with (
        place.open_root() as root_fd,
        open_folder(root_fd, parts, reserved=place.reserved) as folder_fd,
        closing(walk.entries(folder_fd, parts)) as found,
    ):
        entries, is_cut = _up_to(arguments["limit"], found)
    return {"entries": [_entry(entry, place) for entry in entries], "truncated": is_cut or walk.truncated}


def read_file(arguments: dict[str, Any], context: CallContext) -> dict[str, Any]:
    """Give `{text, bytes, truncated}`, or `{$bytes, bytes, truncated}` when the slice is no UTF-8 text."""
    place, parts = _locate(arguments["path"], context)
    with place.open_root() as root_fd, open_file(root_fd, parts, reserved=place.reserved) as fd:
        return read_slice(fd, offset=arguments["offset"], limit=arguments.get("limit"), stop=context.stop)


def search_text(arguments: dict[str, Any], context: CallContext) -> dict[str, Any]:
    """Give `{matches: [{path, line, text}], truncated}`, one match per line, by path and line."""
    place, parts = _locate(arguments["path"], context)
    wanted = needle(arguments["query"], is_regex=arguments["regex"])
    walk = Walk(stop=context.stop, glob=_any_depth(arguments["glob"]), reserved=place.reserved)
    with place.open_root() as root_fd, closing(_search(root_fd, parts, place, walk, wanted)) as found:
        matches, is_cut = _up_to(arguments["limit"], found)
    return {"matches": matches, "truncated": is_cut or walk.truncated}


def write_file(arguments: dict[str, Any], context: CallContext) -> dict[str, Any]:
    """Write the text as UTF-8, whole or not at all; give `{path, bytes}`, the file's size afterwards."""
    place, parts = _locate(arguments["path"], context)
    try:
        data = arguments["text"].encode()
    except UnicodeEncodeError:
        raise InvalidInput("`text` holds half of a surrogate pair, which no file can.", field="text") from None
    size = place.write(parts, data, append=arguments["append"], stop=context.stop)
    return {"path": show_path(parts, place=place.kind), "bytes": size}


def _locate(path: str, context: CallContext) -> tuple[Place, Parts]:
    kind, rest = split_place(path)
    if kind == "workspace":
        return context.workspace, parse_path(rest)
    if context.scratch is None:
        hint = "Use a path of the workspace, or have an admin set `forge.scratch.enabled` to true in config.json."
        raise Disabled("The scratchpad is switched off.", hint=hint, field="path")
    return context.scratch, parse_path(rest)


def _up_to(limit: int, found: Iterator[Item]) -> tuple[list[Item], bool]:
    """Take at most `limit`, and say whether there was one more."""
    items = list(itertools.islice(found, limit))
    return items, next(found, None) is not None


def _entry(entry: Entry, place: Place) -> dict[str, Any]:
    modified = datetime.fromtimestamp(int(entry.modified_s), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    size = {"bytes": entry.size_bytes} if entry.kind == "file" else {}
    return {"path": show_path(entry.parts, place=place.kind), "type": entry.kind, **size, "modified": modified}


def _any_depth(pattern: str) -> Glob:
    return Glob(pattern if "/" in pattern else f"**/{pattern}")


def _search(
    root_fd: int, parts: Parts, place: Place, walk: Walk, wanted: Needle
) -> Generator[dict[str, Any], None, None]:
    for file_parts in _files(root_fd, parts, place, walk):
        path = show_path(file_parts, place=place.kind)
        for hit in _search_one(root_fd, file_parts, place, walk, wanted):
            yield {"path": path, "line": hit.line, "text": hit.text}


def _files(root_fd: int, parts: Parts, place: Place, walk: Walk) -> Iterator[Parts]:
    """Give the files to search: the one that was named, or those below the folder that was."""
    if parts and _is_file(root_fd, parts, place):
        yield parts
        return
    with open_folder(root_fd, parts, reserved=place.reserved) as folder_fd:
        for entry in walk.entries(folder_fd, parts):
            if entry.kind == "file":
                yield entry.parts


def _is_file(root_fd: int, parts: Parts, place: Place) -> bool:
    try:
        with open_file(root_fd, parts, reserved=place.reserved):
            return True
    except InvalidInput:
        return False


def _search_one(root_fd: int, parts: Parts, place: Place, walk: Walk, wanted: Needle) -> Iterator[Hit]:
    try:
        with open_file(root_fd, parts, reserved=place.reserved) as fd:
            walk.truncated |= os.fstat(fd).st_size > MAX_FILE_BYTES
            yield from search_file(fd, wanted, walk.stop)
    except (InvalidInput, NotFound, PermissionDenied, OSError):
        return  # changed since it was listed, or not ours to read
