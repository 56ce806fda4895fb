"""Path names as callers write them: taken apart strictly, and shown so that what is listed can be asked for again."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from sandboxes.errors import InvalidInput

MAX_PATH_CHARS = 4096
MAX_NAME_BYTES = 255
MAX_FOLDERS = 64

Parts = tuple[bytes, ...]
PlaceName = Literal["workspace", "scratch"]

SCRATCH_PREFIX = "scratch:"

_ESCAPED_BYTE = re.compile(r"\\x([0-9A-Fa-f]{2})")
_ENCODED_SEPARATOR = re.compile(r"%(2e|2f|5c|00)", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:(/|$)")
_PLAIN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def outside(field: str = "path") -> InvalidInput:
    """The one answer to every path that is not plainly inside, whether or not something is there."""
    return InvalidInput(
        f"`{field}` must be a plain relative path that stays inside its folder.",
        hint="Write it like `out/report.md`: no leading `/` or `~`, no `..`, no backslash, no percent-encoding.",
        field=field,
    )


def split_place(path: str) -> tuple[PlaceName, str]:
    """Tell `scratch:NAME` from a workspace path and give what is left of it."""
    if path.startswith(SCRATCH_PREFIX):
        return "scratch", path[len(SCRATCH_PREFIX) :]
    return "workspace", path


def parse_path(text: str, *, field: str = "path") -> Parts:
    r"""Take a relative path apart into names as bytes; `()` is the folder itself.

    `.` and empty names fall away; `\xHH` stands for that byte, as `show_path` writes it.
    Raises InvalidInput, with one text for all, for anything that could lead outside.
    """
    if len(text) > MAX_PATH_CHARS or _is_rooted(text) or _ENCODED_SEPARATOR.search(text):
        raise outside(field)
    parts = tuple(_parse_name(name, field) for name in text.split("/") if name not in ("", "."))
    if len(parts) > MAX_FOLDERS:
        raise outside(field)
    return parts


def _is_rooted(text: str) -> bool:
    return text.startswith(("/", "~/")) or text == "~" or _DRIVE.match(text) is not None


def _parse_name(text: str, field: str) -> bytes:
    if "\\" in _ESCAPED_BYTE.sub("", text) or _looks_like_parent(text):
        raise outside(field)
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raise outside(field) from None
    name = re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), raw)
    if b"/" in name or b"\0" in name or name in (b".", b"..") or len(name) > MAX_NAME_BYTES:
        raise outside(field)
    return name


def _looks_like_parent(name: str) -> bool:
    """Full-width dots and slashes turn into `..` and `/` once something normalises the name."""
    return ".." in re.split(r"[/\\]", unicodedata.normalize("NFKC", name))


def show_path(parts: Parts, *, place: PlaceName = "workspace") -> str:
    """Write a path so that it can be read, and asked for again in exactly this form."""
    shown = show_names(parts)
    if place == "scratch":
        return SCRATCH_PREFIX + shown
    return shown.replace(":", "\\x3A", 1) if shown.startswith(SCRATCH_PREFIX) else shown


def show_names(parts: Parts) -> str:
    """Write a path inside its place, as sentences show it."""
    return "/".join(show_name(name) for name in parts)


def show_name(name: bytes) -> str:
    r"""Write one name; bytes that are no UTF-8, controls and backslashes become `\xHH`."""
    text = "".join(_show_char(char) for char in name.decode(errors="surrogateescape"))
    return text if _is_read_back(text, name) else _escape_all(name)


def _show_char(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02X}"
    if code < 0x20 or code == 0x7F or char == "\\":
        return f"\\x{code:02X}"
    return char


def _is_read_back(text: str, name: bytes) -> bool:
    try:
        return parse_path(text) == (name,)
    except InvalidInput:
        return False


def _escape_all(name: bytes) -> str:
    return "".join(chr(byte) if byte in _PLAIN_BYTES else f"\\x{byte:02X}" for byte in name)
