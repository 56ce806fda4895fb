"""The scratchpad: where it lies, that it is private, its quota, and the scripts read from it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from runs import scratch_usage, scratchpad
from runs.scratch_usage import MAX_NOTE_AGE_S, Usage
from runs.scratchpad import MAX_ENTRIES, open_scratchpad
from sandboxes.base import MIB, StopSignal
from sandboxes.errors import ForjaError, InvalidInput, NotFound, PermissionDenied, QuotaExceeded, SourceTooLarge

MB = 1_000_000


@pytest.fixture
def place(tmp_path):
    """Open a scratchpad below `base`; what is not given has ordinary values."""
    (tmp_path / "base").mkdir(mode=0o700)
    (tmp_path / "home").mkdir(mode=0o700)

    def opened(**changed):
        given = {
            "base": tmp_path / "base",
            "home": tmp_path / "home",
            "workspace": "default",
            "session_id": "root-1",
            "max_bytes": 10 * MB,
        }
        return open_scratchpad(**(given | changed))

    return opened


def write(scratch, name, data, *, append=False):
    if isinstance(data, int):
        data = b"x" * data
    parts = tuple(part.encode() for part in name.split("/"))
    return scratch.write(parts, data, append=append, stop=StopSignal())


def files(scratch):
    return {str(found.relative_to(scratch.path)): found.stat().st_size for found in scratch.path.rglob("*")}


# ── Where it lies ───────────────────────────────────────────────────────────────────────────────


def test_it_lies_under_the_base_by_user_workspace_and_root_session(place, tmp_path):
    scratch = place()
    ours = tmp_path / "base" / f"alisio-{os.getuid()}"
    assert scratch.path == ours / "default" / "root-1" / "scratchpad"
    assert scratch.notice is None
    for level in [ours, ours / "default", ours / "default" / "root-1", scratch.path]:
        assert level.stat().st_mode & 0o777 == 0o700


def test_it_uses_the_systems_temporary_folder_when_no_base_is_given(place, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "base"))
    assert place(base=None).path.is_relative_to(tmp_path / "base")


def test_it_makes_a_base_that_is_missing(place, tmp_path):
    assert place(base=tmp_path / "new" / "base").path.is_dir()


def test_a_shared_base_is_fine_when_it_is_sticky(place, tmp_path):
    (tmp_path / "base").chmod(0o1777)
    assert place().notice is None


def test_names_that_are_no_plain_folder_names_stay_inside_and_apart(place, tmp_path):
    paths = {place(workspace=name).path for name in ["..", "../x", "a/b", "a_b", "", "é", "x" * 300]}
    assert len(paths) == 7
    assert all(path.resolve().is_relative_to(tmp_path / "base") for path in paths)
    assert all(path.is_dir() for path in paths)


def _wrong_mode(base):
    (base / f"alisio-{os.getuid()}").mkdir()
    (base / f"alisio-{os.getuid()}").chmod(0o755)


def _a_link(base):
    (base / "elsewhere").mkdir(mode=0o700)
    (base / f"alisio-{os.getuid()}").symlink_to(base / "elsewhere")


def _a_file(base):
    (base / f"alisio-{os.getuid()}").touch()


def _no_sticky_bit(base):
    base.chmod(0o777)


def _wrong_mode_below(base):
    (base / f"alisio-{os.getuid()}").mkdir(mode=0o700)
    (base / f"alisio-{os.getuid()}" / "default").mkdir()
    (base / f"alisio-{os.getuid()}" / "default").chmod(0o750)


@pytest.mark.parametrize("spoil", [_wrong_mode, _a_link, _a_file, _no_sticky_bit, _wrong_mode_below])
def test_it_falls_back_to_the_home_when_the_shared_folder_is_not_private(place, tmp_path, spoil):
    spoil(tmp_path / "base")
    scratch = place()
    assert scratch.path == tmp_path / "home" / "scratch" / "default" / "root-1" / "scratchpad"
    assert scratch.notice.startswith("The scratchpad is under Forja's home: ")
    assert str(tmp_path) not in scratch.notice
    assert write(scratch, "a.txt", 1) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_it_falls_back_when_the_folder_belongs_to_somebody_else(place, tmp_path):
    (tmp_path / "base" / "alisio-0").mkdir(mode=0o700)
    os.chown(tmp_path / "base" / "alisio-0", 12345, 12345)
    assert place().notice == "The scratchpad is under Forja's home: `alisio-0` belongs to another user."


def test_it_says_so_when_nothing_is_private(place, tmp_path):
    _wrong_mode(tmp_path / "base")
    (tmp_path / "home" / "scratch").touch()
    with pytest.raises(ForjaError) as caught:
        place()
    assert caught.value.code == "CONFIG_INVALID"
    assert str(tmp_path) not in str(caught.value.as_dict())


def test_it_is_refused_when_it_stops_being_private(place):
    scratch = place()
    scratch.path.chmod(0o755)
    for act in [lambda: write(scratch, "a.txt", 1), lambda: scratch.read_code("a.js"), scratch.usage]:
        with pytest.raises(PermissionDenied):
            act()


def test_it_comes_back_when_something_cleaned_the_temporary_folder(place):
    scratch = place()
    write(scratch, "a.txt", 1)
    scratch.remove()
    assert scratch.usage() == Usage(size_bytes=0, entries=0)
    assert write(scratch, "b.txt", 2) == 2


# ── Quota ───────────────────────────────────────────────────────────────────────────────────────


def test_parallel_writers_never_exceed_the_quota_together(place):
    scratch = place()

    def attempt(number):
        try:
            return write(place(), f"{number}.bin", 2 * MB)
        except QuotaExceeded as error:
            return error.code

    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(attempt, range(10)))
    assert sorted(map(str, results)) == ["2000000"] * 5 + ["QUOTA_EXCEEDED"] * 5
    assert scratch.usage() == Usage(size_bytes=10 * MB, entries=5)
    assert set(files(scratch).values()) == {2 * MB}
    assert sorted(os.listdir(scratch.path.parent)) == ["lock", "scratchpad", "usage"]


def test_parallel_appends_to_one_file_stop_at_the_quota(place):
    scratch = place()

    def attempt(_):
        try:
            return write(place(), "log.txt", MB, append=True)
        except QuotaExceeded:
            return None

    with ThreadPoolExecutor(8) as pool:
        sizes = [size for size in pool.map(attempt, range(16)) if size]
    assert sorted(sizes) == [MB * number for number in range(1, 11)]
    assert files(scratch) == {"log.txt": 10 * MB}


def test_exactly_the_remaining_bytes_fit_and_one_more_does_not(place):
    scratch = place()
    write(scratch, "a.bin", 4 * MB)
    with pytest.raises(QuotaExceeded) as caught:
        write(scratch, "b.bin", 6 * MB + 1)
    assert caught.value.details == {"usedBytes": 4 * MB, "maxBytes": 10 * MB}
    assert files(scratch) == {"a.bin": 4 * MB}
    assert write(scratch, "b.bin", 6 * MB) == 6 * MB
    with pytest.raises(QuotaExceeded):
        write(scratch, "a.bin", 1, append=True)
    assert scratch.usage().size_bytes == 10 * MB


def test_a_large_file_can_be_overwritten_by_a_large_one(place):
    scratch = place()
    write(scratch, "a.bin", 9 * MB)
    assert write(scratch, "a.bin", 9 * MB) == 9 * MB
    with pytest.raises(QuotaExceeded):
        write(scratch, "a.bin", 10 * MB + 1)
    assert files(scratch) == {"a.bin": 9 * MB}


def test_a_sparse_file_counts_with_its_apparent_size(place):
    scratch = place()
    with (scratch.path / "sparse").open("wb") as file:
        file.truncate(1_000 * MB)
    assert scratch.usage() == Usage(size_bytes=1_000 * MB, entries=1)
    with pytest.raises(QuotaExceeded):
        write(scratch, "a.txt", 1)
    assert write(scratch, "sparse", 1) == 1


def test_a_refused_write_makes_no_folder(place):
    scratch = place()
    with pytest.raises(QuotaExceeded):
        write(scratch, "a/b/c.bin", 11 * MB)
    assert files(scratch) == {}


def test_files_and_folders_are_counted_against_a_limit_of_their_own(place):
    scratch = place(max_entries=5)
    write(scratch, "a/b/1.txt", 0)
    write(scratch, "a/b/2.txt", 0)
    with pytest.raises(QuotaExceeded, match="5 files and folders"):
        write(scratch, "a/c/3.txt", 0)
    write(scratch, "a/b/3.txt", 0)
    with pytest.raises(QuotaExceeded):
        write(scratch, "a/b/4.txt", 0)
    assert write(scratch, "a/b/1.txt", 7) == 7
    assert scratch.usage() == Usage(size_bytes=7, entries=5)


def test_the_limit_on_entries_holds_at_its_default_and_counting_stays_quick(place):
    scratch = place()
    for number in range(MAX_ENTRIES):
        os.close(os.open(scratch.path / f"{number:05}", os.O_CREAT))
    started = time.monotonic()
    with pytest.raises(QuotaExceeded):
        write(scratch, "one-more", 0)
    assert time.monotonic() - started < 2


def test_writing_waits_for_the_lock_but_hears_a_stop(place):
    scratch = place()
    stop = StopSignal()
    with scratch._locked(StopSignal()):
        threading.Timer(0.1, stop.request).start()
        with pytest.raises(ForjaError) as caught:
            scratch.write((b"a.txt",), b"x", append=False, stop=stop)
    assert caught.value.code == "CANCELLED"
    assert files(scratch) == {}


def test_what_a_killed_writer_left_is_removed_by_the_next_one(place):
    scratch = place()
    (scratch.path.parent / ".forja-write-0123").write_bytes(b"half")
    write(scratch, "a.txt", 1)
    assert sorted(os.listdir(scratch.path.parent)) == ["lock", "scratchpad", "usage"]


def test_emptying_and_removing_take_everything_of_this_session_and_nothing_else(place):
    scratch, other = place(), place(session_id="root-2")
    for each in [scratch, other]:
        write(each, "a/b.txt", 1)
    scratch.empty()
    assert (files(scratch), scratch.path.stat().st_mode & 0o777) == ({}, 0o700)
    scratch.remove()
    scratch.remove()
    assert not scratch.path.parent.exists()
    assert files(other) == {"a": other.path.joinpath("a").stat().st_size, "a/b.txt": 1}


# ── What is held is noted beside it ─────────────────────────────────────────────────────────────


@pytest.fixture
def walks(monkeypatch):
    """The walks over a whole scratchpad, one item each."""
    made = []
    whole = scratch_usage.measure

    def counted(folder_fd):
        made.append(folder_fd)
        return whole(folder_fd)

    monkeypatch.setattr(scratch_usage, "measure", counted)
    return made


def note_of(scratch):
    return scratch.path.parent / "usage"


def test_a_write_does_not_walk_over_what_is_there(place, walks):
    scratch = place()
    for number in range(50):
        write(scratch, f"{number}.txt", 10)
    assert len(walks) == 1
    write(scratch, "a/b/c.txt", 5)
    write(scratch, "a/b/c.txt", 3)
    write(scratch, "a/b/c.txt", 4, append=True)
    assert len(walks) == 1
    noted = json.loads(note_of(scratch).read_text())
    held = scratch.usage()
    assert (noted["bytes"], noted["entries"]) == (held.size_bytes, held.entries) == (507, 53)


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"bytes": 1}', "\x00" * 5000, '{"bytes": -5, "entries": 0}'])
def test_it_counts_anew_when_the_note_is_missing_or_unreadable(place, text):
    scratch = place()
    write(scratch, "a.bin", 6 * MB)
    note_of(scratch).unlink()
    if text is not None:
        note_of(scratch).write_text(text)
    with pytest.raises(QuotaExceeded):
        write(scratch, "b.bin", 6 * MB)


@pytest.mark.parametrize("shift_s", [MAX_NOTE_AGE_S + 1, -60])
def test_it_counts_anew_when_the_note_is_old_or_from_the_future(place, walks, monkeypatch, shift_s):
    scratch = place()
    write(scratch, "d/a.txt", 1)
    (scratch.path / "d" / "deep.bin").write_bytes(b"x" * 9 * MB)
    now = time.time()
    monkeypatch.setattr(scratch_usage.time, "time", lambda: now + shift_s)
    with pytest.raises(QuotaExceeded):
        write(scratch, "b.bin", 2 * MB)
    assert len(walks) > 2


def test_writing_on_does_not_keep_a_note_young(place):
    scratch = place()
    write(scratch, "a.txt", 1)
    first = json.loads(note_of(scratch).read_text())["measured"]
    write(scratch, "b.txt", 1)
    assert json.loads(note_of(scratch).read_text())["measured"] == first


def test_what_somebody_else_adds_at_the_top_counts_at_once(place):
    scratch = place()
    write(scratch, "a.txt", 1)
    time.sleep(0.02)  # the file system's clock ticks in milliseconds
    (scratch.path / "theirs.bin").write_bytes(b"x" * 9 * MB)
    with pytest.raises(QuotaExceeded):
        write(scratch, "b.bin", 2 * MB)


def test_nobody_is_refused_for_what_was_deleted_meanwhile(place):
    scratch = place()
    write(scratch, "d/a.bin", 9 * MB)
    (scratch.path / "d" / "a.bin").unlink()
    assert write(scratch, "b.bin", 9 * MB) == 9 * MB
    scratch.empty()
    assert not note_of(scratch).exists()
    assert write(scratch, "c.bin", 10 * MB) == 10 * MB


def test_a_writer_killed_between_file_and_note_leaves_no_note_to_rely_on(place):
    scratch = place()
    write(scratch, "a.bin", 4 * MB)
    child = os.fork()
    if child == 0:
        scratchpad.write_note = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        write(scratch, "b.bin", 4 * MB)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert files(scratch) == {"a.bin": 4 * MB, "b.bin": 4 * MB}
    assert not note_of(scratch).exists()
    with pytest.raises(QuotaExceeded):
        write(scratch, "c.bin", 4 * MB)
    assert write(scratch, "c.bin", 2 * MB) == 2 * MB


# ── codePath ────────────────────────────────────────────────────────────────────────────────────

ESCAPES = [
    "../x.js",
    "a/../../x.js",
    "/etc/hostname",
    "..\\x.js",
    "..%2fx.js",
    "%2e%2e/x.js",
    "．．／x.js",
    "x.js\0.txt",
    "~/.ssh/id",
    "C:\\x",
    "",
    ".",
    "a" * 5000,
    "../scratchpad-evil/x.js",
    "../scratchpad-evil/missing.js",
    "scratch:../x.js",
    "link.js",
    "dangling.js",
    "folder-link/x.js",
    "folder",
    "hard.js",
]


@pytest.mark.parametrize("path", ESCAPES, ids=lambda path: ascii(path)[:30])
def test_every_escape_is_answered_with_the_same_words(place, path):
    scratch = place()
    evil = scratch.path.parent / "scratchpad-evil"
    evil.mkdir()
    (evil / "x.js").write_text("return 'evil'")
    (scratch.path.parent / "x.js").write_text("return 'evil'")
    (scratch.path / "link.js").symlink_to(evil / "x.js")
    (scratch.path / "dangling.js").symlink_to(evil / "missing.js")
    (scratch.path / "folder-link").symlink_to(evil)
    (scratch.path / "folder").mkdir()
    os.link(evil / "x.js", scratch.path / "hard.js")
    with pytest.raises(InvalidInput) as caught:
        scratch.read_code(path)
    assert caught.value.as_dict() == {
        "code": "INVALID_INPUT",
        "message": "`codePath` must be a plain relative path to a file inside the scratchpad.",
        "hint": "Write it like `out/plan.js`; links, `..` and absolute paths are refused.",
        "field": "codePath",
    }


@pytest.mark.parametrize(
    "path", ["out/my script.py", "out/./my script.py", "out//my script.py", "scratch:out/my script.py"]
)
def test_legal_paths_are_read(place, path):
    scratch = place()
    write(scratch, "out/my script.py", b"print('\xc3\xb1')")
    assert scratch.read_code(path) == "print('ñ')"


@pytest.mark.parametrize(("stored", "asked"), [("cafe\u0301.js", "caf\u00e9.js"), ("caf\u00e9.js", "cafe\u0301.js")])
def test_an_accent_may_be_composed_either_way(place, stored, asked):
    scratch = place()
    (scratch.path / stored).write_text("return 1")
    assert scratch.read_code(asked) == "return 1"


def test_a_file_that_is_missing_inside_is_not_found(place):
    scratch = place()
    for path in ["x.js", "a/b.js", "café.js"]:
        with pytest.raises(NotFound) as caught:
            scratch.read_code(path)
        assert caught.value.field == "codePath"


def test_code_has_a_size_limit_and_must_be_utf8(place):
    scratch = place()
    write(scratch, "fits.js", MIB)
    write(scratch, "large.js", MIB + 1)
    write(scratch, "latin.py", b"# se\xf1al")
    write(scratch, "bom.js", b"\xef\xbb\xbfreturn 1")
    assert len(scratch.read_code("fits.js")) == MIB
    assert scratch.read_code("bom.js") == "return 1"
    with pytest.raises(SourceTooLarge):
        scratch.read_code("large.js")
    with pytest.raises(InvalidInput, match="UTF-8"):
        scratch.read_code("latin.py")
