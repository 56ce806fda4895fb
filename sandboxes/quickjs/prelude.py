"""The JavaScript prelude: its files, in the order they are joined in."""

from __future__ import annotations

from pathlib import Path

FILES = (
    "primordials",
    "codec",
    "errors",
    "tools",
    "inspect",
    "console",
    "random",
    "absent",
    "text",
    "clone",
    "percent",
    "hosts",
    "url",
    "url_classes",
    "compile",
    "races",
    "report",
    "run",
)
_FOLDER = Path(__file__).resolve().parent.parent / "guests" / "js"


def prelude_source() -> str:
    """Give the prelude as the one expression the guest's shim evaluates and calls with the host's functions."""
    parts = [(_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in FILES]
    return "((host, dependents) => { 'use strict';\n" + "\n".join(parts) + "\n})"
