"""The scratchpad: a private folder per root session, for scripts and intermediate files, with a quota.

It lies at `<base>/alisio-<uid>/<workspace>/<root session>/scratchpad/`. What counts against the quota is the
apparent size of each file (what `ls -l` shows, so a sparse file counts whole); folders weigh nothing, but each
of them is one of the entries, of which there are at most MAX_ENTRIES.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runs.private_folders import NotPrivate, folder_name, open_base, open_private
from runs.scratch_usage import Usage, drop_note, held, measure, measured, write_note
from runs.tools.confine import open_file
from runs.tools.paths import Parts, PlaceName, parse_path, split_place
from runs.tools.writing import TEMPORARY_PREFIX, lock, size_of, write_file
from sandboxes.base import MAX_CODE_BYTES, StopSignal
from sandboxes.errors import ConfigInvalid, InvalidInput, NotFound, PermissionDenied, QuotaExceeded, SourceTooLarge

MAX_ENTRIES = 10_000


@dataclass(frozen=True, kw_only=True)
class Scratchpad:
    """One session's scratchpad, as a place for the file tools.

    `levels` are the folders below `base` that must be private to us, the last but one the session's own;
    `notice` says in words why it is not where it was asked to be.
    """

    base: Path
    levels: tuple[str, ...]
    max_bytes: int
    max_entries: int = MAX_ENTRIES
    notice: str | None = None

    @property
    def kind(self) -> PlaceName:
        return "scratch"

    @property
    def read_only(self) -> bool:
        return False

    @property
    def reserved(self) -> bytes | None:
        return None

    @property
    def path(self) -> Path:
        return self.base.joinpath(*self.levels)

    @contextmanager
    def open_root(self) -> Iterator[int]:
        """Give a handle on the folder, made when missing; raises PermissionDenied when it is not private any more."""
        with self._open_session() as session_fd, _opened(session_fd, self.levels[-1]) as root_fd:
            yield root_fd

    def usage(self) -> Usage:
        with self.open_root() as root_fd:
            return measure(root_fd)

    def write(self, parts: Parts, data: bytes, *, append: bool, stop: StopSignal) -> int:
        """Write a file if it fits; raises QuotaExceeded, and then nothing was written and nothing deleted."""
        with self._locked(stop) as session_fd, _opened(session_fd, self.levels[-1]) as root_fd:
            return self._write_within_quota(session_fd, root_fd, parts, data, append=append, stop=stop)

    def read_code(self, path: str) -> str:
        """Read the script that `codePath` names.

        Raises InvalidInput with one text for every path that is not plainly a file inside, NotFound,
        SourceTooLarge above 1 MiB.
        """
        data = self._read_code_bytes(path)
        if len(data) > MAX_CODE_BYTES:
            raise SourceTooLarge(f"The file is larger than {MAX_CODE_BYTES} bytes.", field="codePath")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput("The file is not UTF-8 text.", hint="Save it as UTF-8.", field="codePath") from None

    def _read_code_bytes(self, path: str) -> bytes:
        try:
            parts = parse_path(split_place(path)[1])
            with self.open_root() as root_fd, open_file(root_fd, parts) as fd, os.fdopen(os.dup(fd), "rb") as file:
                return file.read(MAX_CODE_BYTES + 1)
        except InvalidInput:
            raise InvalidInput(
                "`codePath` must be a plain relative path to a file inside the scratchpad.",
                hint="Write it like `out/plan.js`; links, `..` and absolute paths are refused.",
                field="codePath",
            ) from None
        except NotFound:
            raise NotFound(
                "`codePath` names a file that is not in the scratchpad.",
                hint="list_files with `scratch:` shows what is there.",
                field="codePath",
            ) from None

    def empty(self) -> None:
        """Remove everything in it."""
        with self._locked(StopSignal()) as session_fd:
            drop_note(session_fd)
            shutil.rmtree(self.levels[-1], dir_fd=session_fd)
            with _opened(session_fd, self.levels[-1]):
                return

    def remove(self) -> None:
        """Remove the session's folder, if it is there."""
        try:
            with open_base(self.base) as base_fd, open_private(base_fd, self.levels[:-2], make=False) as workspace_fd:
                shutil.rmtree(self.levels[-2], dir_fd=workspace_fd)
        except FileNotFoundError:
            return
        except NotPrivate as error:
            raise _no_longer_private(error) from None

    @contextmanager
    def _open_session(self) -> Iterator[int]:
        try:
            with open_base(self.base) as base_fd, open_private(base_fd, self.levels[:-1], make=True) as session_fd:
                yield session_fd
        except NotPrivate as error:
            raise _no_longer_private(error) from None

    @contextmanager
    def _locked(self, stop: StopSignal) -> Iterator[int]:
        """Hold the session's lock: whoever counts and writes is alone."""
        with self._open_session() as session_fd:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            lock_fd = os.open("lock", flags, 0o600, dir_fd=session_fd)
            try:
                lock(lock_fd, stop)
                _drop_unfinished(session_fd)
                yield session_fd
            finally:
                os.close(lock_fd)

    def _write_within_quota(
        self, session_fd: int, root_fd: int, parts: Parts, data: bytes, *, append: bool, stop: StopSignal
    ) -> int:
        replaced, new_entries = _replaced(root_fd, parts)
        kept_bytes = replaced if append else 0
        before = held(session_fd, root_fd)
        try:
            after = self._after(before.usage, replaced, kept_bytes + len(data), new_entries)
        except QuotaExceeded:
            if before.is_fresh:
                raise
            # Nobody is refused on the word of a note: something may have been deleted meanwhile.
            before = measured(root_fd)
            after = self._after(before.usage, replaced, kept_bytes + len(data), new_entries)
        drop_note(session_fd)
        size = write_file(root_fd, parts, data, append=append, stop=stop, temporary_fd=session_fd)
        write_note(session_fd, root_fd, after, measured_s=before.measured_s)
        return size

    def _after(self, before: Usage, replaced: int, size_after: int, new_entries: int) -> Usage:
        """Give what is held once a file of `replaced` bytes has `size_after`; raises QuotaExceeded."""
        size = before.size_bytes + size_after - replaced
        # One that is over already, because the quota was lowered, may still shrink.
        if size > self.max_bytes and size > before.size_bytes:
            raise QuotaExceeded(
                f"The scratchpad may hold {self.max_bytes} bytes: it holds {before.size_bytes}, with this {size}.",
                usedBytes=before.size_bytes,
                maxBytes=self.max_bytes,
            )
        if new_entries and before.entries + new_entries > self.max_entries:
            raise QuotaExceeded(
                f"The scratchpad may hold {self.max_entries} files and folders, and holds {before.entries}.",
                hint="Put several things into one file, or empty the scratchpad; nothing was written.",
            )
        return Usage(size_bytes=size, entries=before.entries + new_entries)


def open_scratchpad(
    *, base: Path | None, home: Path, workspace: str, session_id: str, max_bytes: int, max_entries: int = MAX_ENTRIES
) -> Scratchpad:
    """Make and verify the scratchpad of a root session.

    `base` is ALISIO_TMPDIR or forge.scratch.root, None for the system's temporary folder. When a folder there is
    not private to us, the one under `<home>/scratch` is used, and `notice` says so. Raises ConfigInvalid when
    that is not private either.
    """
    below = (folder_name(workspace), folder_name(session_id), "scratchpad")
    shared = Path(tempfile.gettempdir()) if base is None else base
    wanted = Scratchpad(
        base=shared, levels=(f"alisio-{os.getuid()}", *below), max_bytes=max_bytes, max_entries=max_entries
    )
    try:
        return _made(wanted)
    except (NotPrivate, OSError) as error:
        notice = f"The scratchpad is under Forja's home: {_why(error)}."
    inside = Scratchpad(
        base=home, levels=("scratch", *below), max_bytes=max_bytes, max_entries=max_entries, notice=notice
    )
    try:
        return _made(inside)
    except (NotPrivate, OSError) as error:
        raise ConfigInvalid(
            f"There is no private folder for the scratchpad: {_why(error)}.",
            hint="Set forge.scratch.root to a folder that only the user running Forja can open.",
        ) from None


def _made(scratchpad: Scratchpad) -> Scratchpad:
    with open_base(scratchpad.base) as base_fd, open_private(base_fd, scratchpad.levels, make=True):
        return scratchpad


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, NotPrivate) else "the folder meant for it cannot be used"


def _no_longer_private(error: NotPrivate) -> PermissionDenied:
    return PermissionDenied(
        f"The scratchpad cannot be used: {error}.", hint="Ask whoever runs Forja to look at that folder."
    )


@contextmanager
def _opened(session_fd: int, name: str) -> Iterator[int]:
    try:
        with open_private(session_fd, (name,), make=True) as root_fd:
            yield root_fd
    except NotPrivate as error:
        raise _no_longer_private(error) from None


def _drop_unfinished(session_fd: int) -> None:
    """Remove what a writer that was killed left: under the lock, no other is at work."""
    for name in os.listdir(session_fd):
        if os.fsencode(name).startswith(TEMPORARY_PREFIX):
            os.unlink(name, dir_fd=session_fd)


def _replaced(root_fd: int, parts: Parts) -> tuple[int, int]:
    """Give the bytes that a write of this file replaces, and how many files and folders it adds."""
    size = 0
    for depth in range(1, len(parts) + 1):
        found = size_of(root_fd, parts[:depth])
        if found is None:
            return 0, len(parts) - depth + 1
        size = found
    return size, 0
