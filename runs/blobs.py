"""Large payloads on disk, named by the SHA-256 of their bytes."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import secrets
from pathlib import Path

from django.conf import settings

INLINE_CHARS = 64 * 1024

log = logging.getLogger(__name__)


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _path(sha256: str) -> Path:
    return Path(settings.FORJA_HOME) / "blobs" / sha256[:2] / sha256


def keep(text: str) -> tuple[str, str | None]:
    """Store ASCII JSON text; gives its SHA-256 and, when it is small, the text to keep in the row itself."""
    sha256 = sha256_of(text)
    if len(text) <= INLINE_CHARS:
        return sha256, text
    path = _path(sha256)
    if not path.exists():
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(text.encode("utf-8", "surrogatepass"))
            temporary.replace(path)
        except OSError as error:
            # A full disk must not end the run: its hash still tells what it was.
            log.warning("could not keep %s bytes of a call (%s)", len(text), error)
            with contextlib.suppress(OSError):
                temporary.unlink()
    return sha256, None


def load(sha256: str, inline: str | None) -> str | None:
    """Give the text back; None when its file is gone."""
    if inline is not None:
        return inline
    if not sha256:
        return None
    try:
        return _path(sha256).read_text(encoding="utf-8", errors="surrogatepass")
    except OSError:
        return None
