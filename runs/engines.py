"""Which backend runs a tool, and the one backend object of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from forja_site.config import Config
from forja_site.instance import instance_label
from sandboxes.base import Backend, Limits
from sandboxes.errors import IsolationUnavailable
from sandboxes.quickjs.backend import QuickJS

_lock = threading.Lock()
_javascript: dict[tuple[str, int], QuickJS] = {}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The backend a run was accepted for, with what the run reports about it."""

    backend: str
    isolation: str
    reason: str
    engine: dict[str, str] | None
    controls: Callable[[Limits], dict[str, Any]]


def choose_engine(config: Config, tool: str) -> Choice:
    """Choose by policy; the caller never does. Raises when nothing fit is ready."""
    if tool == "python_run":
        raise IsolationUnavailable("No Python backend is set up on this server.")
    backend = javascript(config)
    status = backend.status()
    if status.error is not None:
        raise status.error
    return Choice(
        backend=backend.name,
        isolation=backend.isolation,
        reason=f"{tool} always runs on QuickJS in WebAssembly, {backend.host_reason()}",
        engine=status.engine.as_dict() if status.engine else None,
        controls=lambda limits: {name: control.as_dict() for name, control in backend.controls(limits).items()},
    )


def javascript(config: Config) -> QuickJS:
    """The JavaScript backend under this configuration; its engines start on first use."""
    key = (str(config["forge.javascript.host"]), int(config["forge.queue.slots"]))
    with _lock:
        if key not in _javascript:
            _javascript[key] = QuickJS(
                wasm_path=Path(settings.FORJA_ENGINE_PATH),
                cache_dir=Path(settings.FORJA_HOME) / "cache",
                host=key[0],
                slots=key[1],
                instance=instance_label(Path(settings.FORJA_HOME)),
            )
        return _javascript[key]


def backend_for(config: Config, name: str) -> Backend:
    """The backend object that a claimed run names."""
    if name != QuickJS.name:
        raise IsolationUnavailable(f"The backend {name} is not set up on this server.")
    return javascript(config)


def close_engines() -> None:
    """End every process the backends keep ready."""
    with _lock:
        backends = list(_javascript.values())
        _javascript.clear()
    for backend in backends:
        backend.close()
