"""Asking the instance whether it is well: its broker's socket, and its own `/health`."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Sequence
from pathlib import Path

ANYWHERE = ("0.0.0.0", "::", "")


def reachable_host(host: str) -> str:
    """Give the address under which this machine itself reaches what listens on `host`, an IPv6 one in brackets."""
    name = "127.0.0.1" if host in ANYWHERE else host.strip("[]")
    return f"[{name}]" if ":" in name else name


def site_name(host: str, *, allowed: Sequence[str]) -> str:
    """Give a name that the site answers to: its own address where that is allowed, else the first allowed one."""
    own = reachable_host(host)
    if not allowed or own in allowed or "*" in allowed:
        return own
    return allowed[0].lstrip(".")


def page_address(host: str, port: int, *, allowed: Sequence[str], origins: Sequence[str] = ()) -> str:
    """Give where people find the pages: the first trusted origin when there is one, else what the site answers to."""
    if origins:
        return origins[0].rstrip("/")
    return f"http://{site_name(host, allowed=allowed)}:{port}"


def has_socket(path: Path) -> bool:
    """Does anything answer on this Unix socket?"""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


def health(host: str, port: int, *, name: str) -> str:
    """Give "ok", or in a few words what is not well yet; `name` is what the site is called in the Host header."""
    connection = http.client.HTTPConnection(reachable_host(host).strip("[]"), port, timeout=3)
    try:
        connection.request("GET", "/health", headers={"Host": name})
        answer = connection.getresponse()
        body = answer.read(4096)
    except (OSError, http.client.HTTPException):
        return "the web process does not answer yet"
    finally:
        connection.close()
    return _wellness(answer.status, body)


def _wellness(status: int, body: bytes) -> str:
    """Well means with a worker: before that a run would only wait."""
    try:
        parts = json.loads(body)
        if parts["status"] == "ok":
            return "ok"
        return ", ".join(f"{part}: {parts[part]}" for part in ("status", "database", "broker", "workers"))
    except (ValueError, KeyError, TypeError):
        return f"/health answers {status}"
