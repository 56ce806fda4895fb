"""The fixture tools of the test cases, in process: each does one thing a real tool may do, some of it badly.

Counters live in files under the folder that the environment variable FX_DIR names, so that a test can read
them from another process than the one that serves the tools. They count as tools of an MCP server `fx`:
allow them with the pattern `fx.*`.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runs.tools.tool import CallContext, Tool
from sandboxes.errors import Cancelled, ToolError, ToolProtocolError, ToolUnavailable

SERVER = "fx"
ALLOW_ALL = f"{SERVER}.*"
ODD_NAMES = (
    "get-weather",
    "get.weather",
    "docs.search",
    "fs/read",
    "a b",
    "2fast",
    "搜索工具",
    "then",
    "constructor",
)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
SECRET_TEXT = "cannot open /srv/forja/private/keys.db with token=fx-not-a-real-token-0123456789abcdef"


# ── Counters ────────────────────────────────────────────────────────────────────────────────────


def counter(key: str) -> int:
    """Read a counter from outside; 0 when nothing counted yet."""
    try:
        return int(json.loads((_folder() / f"{key}.json").read_text())["n"])
    except FileNotFoundError:
        return 0


def _folder() -> Path:
    folder = Path(os.environ["FX_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _changed(key: str) -> Iterator[dict[str, int]]:
    """Give the numbers kept under the key, and store what the caller makes of them, alone among processes."""
    with (_folder() / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = _folder() / f"{key}.json"
        numbers: dict[str, int] = json.loads(path.read_text()) if path.exists() else {"n": 0}
        yield numbers
        # By rename, so that `counter`, which takes no lock, never reads half a file.
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(numbers))
        fresh.replace(path)


def _count(key: str) -> int:
    with _changed(key) as numbers:
        numbers["n"] += 1
        return numbers["n"]


# ── The tools ───────────────────────────────────────────────────────────────────────────────────


def fx_echo(arguments: dict[str, Any], context: CallContext) -> Any:
    return arguments


def fx_sleep(arguments: dict[str, Any], context: CallContext) -> Any:
    started = time.monotonic()
    _wait(arguments["ms"], context, is_deaf=arguments["ignore_abort"])
    if "then_count" in arguments:
        _count(arguments["then_count"])
    return {"label": arguments.get("label"), "ms": round((time.monotonic() - started) * 1000)}


def _wait(ms: float, context: CallContext, *, is_deaf: bool = False) -> None:
    if is_deaf:
        time.sleep(ms / 1000)
    elif context.stop.wait(ms / 1000):
        raise Cancelled("fx was told to stop.")


def fx_count(arguments: dict[str, Any], context: CallContext) -> Any:
    return {"n": _count(arguments["key"])}


def fx_gauge(arguments: dict[str, Any], context: CallContext) -> Any:
    with _changed("gauge") as numbers:
        numbers["now"] = numbers.get("now", 0) + 1
        numbers["n"] = max(numbers["n"], numbers["now"])
    try:
        _wait(arguments["ms"], context)
    finally:
        with _changed("gauge") as numbers:
            numbers["now"] -= 1
            peak = numbers["n"]
    return {"i": arguments["i"], "peak": peak}


def fx_fail(arguments: dict[str, Any], context: CallContext) -> Any:
    message = arguments["message"]
    match arguments["kind"]:
        case "throw":
            raise RuntimeError(message)
        case "iserror":
            raise ToolError(message)
        case "protocol":
            raise ToolProtocolError(message)
        case _:
            raise ToolUnavailable(message)


def fx_secret_fail(arguments: dict[str, Any], context: CallContext) -> Any:
    raise RuntimeError(f"{SECRET_TEXT} ({arguments['id']})")


def fx_strict(arguments: dict[str, Any], context: CallContext) -> Any:
    _count("strict")
    return arguments


def fx_both(arguments: dict[str, Any], context: CallContext) -> Any:
    content = [{"type": "text", "text": "hola"}, {"type": "image", "data": PIXEL, "mimeType": "image/png"}]
    return {"content": content, "text": "hola", "rows": 3}


def fx_link(arguments: dict[str, Any], context: CallContext) -> Any:
    link = {"type": "resource_link", "uri": "fx://report/1", "name": "report", "mimeType": "text/plain"}
    return {"content": [link, {"type": "hologram", "shape": "cube"}], "text": ""}


def fx_blob(arguments: dict[str, Any], context: CallContext) -> Any:
    return {"text": "END!!".rjust(arguments["bytes"], "x")}


def _says_its_name(name: str) -> Callable[[dict[str, Any], CallContext], Any]:
    return lambda arguments, context: {"tool": name, "args": arguments}


# ── Their schemas ───────────────────────────────────────────────────────────────────────────────

_ANYTHING: dict[str, Any] = {"type": "object"}
_MS = {"type": "number", "minimum": 0}
_KEY = {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,60}$"}


def _only(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_SLEEP = _only(
    ["ms"],
    ms=_MS,
    label={"type": "string"},
    then_count=_KEY,
    ignore_abort={"type": "boolean", "default": False},
)
_FAIL = _only(
    ["kind"],
    kind={"enum": ["throw", "iserror", "protocol", "exit"]},
    message={"type": "string", "default": "fx failed as it was asked to"},
)
_STRICT = _only(["id"], id={"type": "integer"}, unit={"type": "string", "default": "m"})
_BLOB = _only(["bytes"], bytes={"type": "integer", "minimum": 5, "maximum": 64_000_000})


def _tool(call: Callable[[dict[str, Any], CallContext], Any], schema: dict[str, Any], name: str | None = None) -> Tool:
    name = name or call.__name__
    return Tool(name=name, title=name, description=f"Test tool {name}.", input_schema=schema, server=SERVER, call=call)


def tools() -> list[Tool]:
    """Give all of them, as a provider that `settings.FORJA_EXTRA_TOOLS` may name."""
    plain = [
        _tool(fx_echo, _ANYTHING),
        _tool(fx_sleep, _SLEEP),
        _tool(fx_count, _only(["key"], key=_KEY)),
        _tool(fx_gauge, _only(["i", "ms"], i={"type": "integer"}, ms=_MS)),
        _tool(fx_fail, _FAIL),
        _tool(fx_secret_fail, _only(["id"], id={"type": ["string", "integer"]})),
        _tool(fx_strict, _STRICT),
        _tool(fx_both, _ANYTHING),
        _tool(fx_link, _ANYTHING),
        _tool(fx_blob, _BLOB),
    ]
    return plain + [_tool(_says_its_name(name), _ANYTHING, name) for name in ODD_NAMES]
