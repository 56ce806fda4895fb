"""Our four file tools as callers see them: names, descriptions and schemas."""

from __future__ import annotations

from typing import Any

from runs.tools.files import list_files, read_file, search_text, write_file
from runs.tools.paths import SCRATCH_PREFIX
from runs.tools.reading import MAX_READ_BYTES
from runs.tools.searching import BLOCK_BYTES, MAX_FILE_BYTES, MAX_QUERY_CHARS
from runs.tools.tool import Tool
from sandboxes.base import KIB, MIB

MAX_ENTRIES = 10_000
MAX_MATCHES = 2_000

_PATH = {
    "type": "string",
    "description": "Relative to the workspace; `scratch:NAME` is the scratchpad. Links are not followed.",
}


def _writes_to_scratch(arguments: dict[str, Any]) -> bool:
    return str(arguments.get("path", "")).startswith(SCRATCH_PREFIX)


def _limit(default: int, maximum: int, what: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": maximum, "default": default, "description": what}


def _input(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _output(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _list_of(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _output(required, **properties)}


_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_FLAG: dict[str, Any] = {"type": "boolean"}

FILE_TOOLS: tuple[Tool, ...] = (
    Tool(
        name="list_files",
        title="List files",
        description=(
            "List a folder of the workspace, or of the scratchpad with `scratch:`. "
            "`glob` is matched against the path below that folder: `*` lists the folder itself, "
            "`**/*.py` goes all the way down. Only what has type `file` can be read: hard links and special files "
            "are `other`."
        ),
        input_schema=_input(
            [],
            path={**_PATH, "default": ""},
            glob={**_TEXT, "default": "*", "description": "`*`, `?`, `[a-z]`, `{a,b}`, and `**` for any folders."},
            limit=_limit(1000, MAX_ENTRIES, "The most entries to give."),
        ),
        output_schema=_output(
            ["entries", "truncated"],
            entries=_list_of(
                ["path", "type", "modified"],
                path=_TEXT,
                type={"enum": ["file", "directory", "link", "other"]},
                bytes=_COUNT,
                modified=_TEXT,
            ),
            truncated=_FLAG,
        ),
        read_only=True,
        call=list_files,
    ),
    Tool(
        name="read_file",
        title="Read a file",
        description=(
            "Read a file's text. `offset` and `limit` are in bytes, and a character belongs to the slice its first "
            "byte is in, so slices at `offset + limit` join up exactly. `bytes` is the size of the whole file. "
            "What is no UTF-8 text comes as base64 in `$bytes` in place of `text`. "
            f"Without `limit`, a file above {MAX_READ_BYTES // MIB} MiB is TOOL_RESULT_TOO_LARGE."
        ),
        input_schema=_input(
            ["path"],
            path=_PATH,
            offset={**_COUNT, "default": 0, "description": "First byte to read."},
            limit={"type": "integer", "minimum": 1, "maximum": MAX_READ_BYTES, "description": "Most bytes to read."},
        ),
        output_schema=_output(["bytes", "truncated"], text=_TEXT, bytes=_COUNT, truncated=_FLAG, **{"$bytes": _TEXT}),
        read_only=True,
        call=read_file,
    ),
    Tool(
        name="search_text",
        title="Search in files",
        description=(
            "Find the lines that hold a text, or with `regex` match an RE2 pattern; case-sensitive (`(?i)` in a "
            "pattern changes that). `path` is a folder or one file; a `glob` without `/` fits names at any depth. "
            f"Binary files are passed over, of a file the first {MAX_FILE_BYTES // MIB} MiB are searched, and a line "
            f"longer than {BLOCK_BYTES // KIB} KiB is searched in pieces."
        ),
        input_schema=_input(
            ["query"],
            query={**_TEXT, "minLength": 1, "maxLength": MAX_QUERY_CHARS},
            path={**_PATH, "default": ""},
            glob={**_TEXT, "default": "**", "description": "Which files, such as `*.py` or `src/**/*.js`."},
            regex={**_FLAG, "default": False},
            limit=_limit(200, MAX_MATCHES, "The most matches to give."),
        ),
        output_schema=_output(
            ["matches", "truncated"],
            matches=_list_of(["path", "line", "text"], path=_TEXT, line=_COUNT, text=_TEXT),
            truncated=_FLAG,
        ),
        read_only=True,
        call=search_text,
    ),
    Tool(
        name="write_file",
        title="Write a file",
        description=(
            "Write text to a file, whole or not at all, making its folders; `append` adds to its end. "
            "Inside the scratchpad (`scratch:NAME`) no approval is needed. Gives the file's size afterwards."
        ),
        input_schema=_input(["path", "text"], path=_PATH, text=_TEXT, append={**_FLAG, "default": False}),
        output_schema=_output(["path", "bytes"], path=_TEXT, bytes=_COUNT),
        call=write_file,
        is_in_scratch=_writes_to_scratch,
    ),
)
