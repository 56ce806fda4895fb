"""What has to hold before anything is started; each refusal is one sentence with the way out."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from pathlib import Path

from forja_site.supervisor_home import CannotStart, already_running, holder

PRODUCTION_VARIABLES = ("SECRET_KEY", "ALLOWED_HOSTS")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def check_public_host(host: str, *, environ: Mapping[str, str]) -> None:
    missing = [name for name in PRODUCTION_VARIABLES if not environ.get(name)]
    if missing and not is_loopback(host):
        raise CannotStart(
            f"HOST={host} can be reached by others, and that needs {' and '.join(missing)} to be set as well:"
            " set them, or leave HOST at 127.0.0.1."
        )


def check_port(host: str, port: int, *, home: Path) -> None:
    """Be sure that the address is free; when this very home is what occupies it, say that instead."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise CannotStart(f"HOST={host} is no address of this machine ({error}): use HOST=127.0.0.1.") from error
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        # As the server itself will: an address that is only in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except OSError as error:
            raise CannotStart(_busy(host, port, error, home=home)) from error


def _busy(host: str, port: int, error: OSError, *, home: Path) -> str:
    if holder(home) is not None:
        return already_running(home)
    if isinstance(error, PermissionError):
        return f"Port {port} needs rights that this user lacks: choose one above 1023, as in PORT=8080 make run."
    return (
        f"Port {port} on {host} is not free ({error.strerror}):"
        f" stop what uses it, or choose another, as in PORT={port + 1 if port < 65_535 else 8001} make run."
    )


def check_engine(path: Path) -> None:
    if not path.is_file():
        raise CannotStart(
            f"The JavaScript engine is missing at {path}: `make run` builds it, and so does"
            " `python -m sandboxes.quickjs.build`."
        )
