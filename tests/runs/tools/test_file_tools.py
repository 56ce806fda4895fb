"""The four file tools in ordinary use: their shapes, their bounds, their errors."""

from __future__ import annotations

import base64
import os
import threading
import time

import pytest

from runs.tools.file_tools import FILE_TOOLS
from runs.tools.reading import MAX_READ_BYTES
from runs.tools.searching import search_file
from sandboxes.base import MIB
from sandboxes.errors import Cancelled

# ── list_files ──────────────────────────────────────────────────────────────────────────────────


def test_it_lists_a_folder_with_type_size_and_time(box):
    (box.root / "b.txt").write_text("12345")
    (box.root / "a").mkdir()
    os.utime(box.root / "b.txt", (1_700_000_000, 1_700_000_000))
    listed = box.call("list_files")
    assert listed["truncated"] is False
    folder, file = listed["entries"]
    assert (folder["path"], folder["type"]) == ("a", "directory")
    assert "bytes" not in folder
    assert file == {"path": "b.txt", "type": "file", "bytes": 5, "modified": "2023-11-14T22:13:20Z"}


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*", ["a.js", "src"]),
        ("**", ["a.js", "src", "src/b.js", "src/deep", "src/deep/c.js", "src/deep/d.md"]),
        ("**/*.js", ["a.js", "src/b.js", "src/deep/c.js"]),
        ("src/*.js", ["src/b.js"]),
        ("src/**/*.{js,md}", ["src/b.js", "src/deep/c.js", "src/deep/d.md"]),
        ("*.JS", []),
        ("[a-b].js", ["a.js"]),
        ("**/deep/**", ["src/deep", "src/deep/c.js", "src/deep/d.md"]),
    ],
)
def test_it_matches_globs(box, glob, expected):
    for path in ["a.js", "src/b.js", "src/deep/c.js", "src/deep/d.md"]:
        box.call("write_file", path=path, text="x")
    assert box.paths(glob=glob) == expected


def test_it_matches_a_glob_below_the_folder_that_was_named(box):
    box.call("write_file", path="src/b.js", text="x")
    assert box.paths(path="src", glob="*.js") == ["src/b.js"]


def test_it_says_when_a_list_is_cut_and_only_then(box):
    for number in range(5):
        (box.root / f"{number}.txt").touch()
    assert box.call("list_files", limit=5)["truncated"] is False
    cut = box.call("list_files", limit=4)
    assert [entry["path"] for entry in cut["entries"]] == ["0.txt", "1.txt", "2.txt", "3.txt"]
    assert cut["truncated"] is True


def test_it_lists_ten_thousand_files_in_one_answer(box):
    for number in range(10_000):
        os.close(os.open(box.root / f"{number:05}.txt", os.O_CREAT))
    started = time.monotonic()
    listed = box.call("list_files", limit=10_000)
    assert (len(listed["entries"]), listed["truncated"]) == (10_000, False)
    assert time.monotonic() - started < 15


def test_it_stops_at_a_depth_and_says_so(box):
    deep = "/".join(["d"] * 50)
    (box.root / deep).mkdir(parents=True)
    listed = box.call("list_files", glob="**")
    assert listed["truncated"] is True
    assert len(listed["entries"]) < 50


def test_it_lists_names_that_are_no_utf8_and_reads_them_by_what_it_listed(box):
    with open(os.fsencode(box.root) + b"/\xc3.txt", "w") as file:
        file.write("odd")
    (box.root / "é").write_text("accent")
    (box.root / "a<b>.md").write_text("markup")
    listed = box.paths()
    assert "\\xC3.txt" in listed
    assert [box.call("read_file", path=path)["text"] for path in sorted(listed)] == ["odd", "markup", "accent"]


# ── read_file ───────────────────────────────────────────────────────────────────────────────────


def test_it_reads_a_whole_file(box):
    (box.root / "a.txt").write_text("señal\r\n\ufeff😀", newline="")
    assert box.call("read_file", path="a.txt") == {"text": "señal\r\n\ufeff😀", "bytes": 15, "truncated": False}


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_it_reads_slices_that_join_up_to_the_whole(box, limit):
    text = "aé€😀" * 7 + "z"
    (box.root / "a.txt").write_text(text)
    size = len(text.encode())
    slices = [box.call("read_file", path="a.txt", offset=at, limit=limit) for at in range(0, size, limit)]
    assert "".join(piece["text"] for piece in slices) == text
    assert [piece["truncated"] for piece in slices] == [True] * (len(slices) - 1) + [False]
    assert {piece["bytes"] for piece in slices} == {size}


def test_it_reads_nothing_past_the_end(box):
    (box.root / "a.txt").write_text("abc")
    assert box.call("read_file", path="a.txt", offset=10) == {"text": "", "bytes": 3, "truncated": False}


def test_it_gives_what_is_no_text_as_bytes(box):
    data = bytes(range(256))
    (box.root / "a.csv").write_bytes(data)
    read = box.call("read_file", path="a.csv")
    assert base64.b64decode(read["$bytes"]) == data
    assert (read["bytes"], read["truncated"], "text" in read) == (256, False, False)
    part = box.call("read_file", path="a.csv", offset=200, limit=10)
    assert base64.b64decode(part["$bytes"]) == data[200:210]


def test_it_keeps_nul_characters(box):
    (box.root / "a.txt").write_text("a\0b")
    assert box.call("read_file", path="a.txt")["text"] == "a\0b"


def test_it_never_cuts_a_large_file_silently(box):
    with (box.root / "large.json").open("wb") as file:
        file.truncate(300 * MIB)
    started = time.monotonic()
    error = box.refused("read_file", path="large.json")
    assert (error.code, error.details["bytes"]) == ("TOOL_RESULT_TOO_LARGE", 300 * MIB)
    assert box.call("read_file", path="large.json", limit=1000)["truncated"] is True
    assert time.monotonic() - started < 1


def test_it_reads_as_much_as_one_read_may_give(box):
    (box.root / "large.txt").write_bytes(b"x" * MAX_READ_BYTES)
    assert len(box.call("read_file", path="large.txt")["text"]) == MAX_READ_BYTES


def test_it_says_that_a_file_is_missing_or_a_folder(box):
    (box.root / "folder").mkdir()
    assert box.refused("read_file", path="missing.txt").code == "NOT_FOUND"
    assert box.refused("read_file", path="missing/x.txt").message == "`missing` does not exist."
    assert box.refused("read_file", path="folder").message == "`folder` is a folder, not a file."
    assert box.refused("read_file", path="").code == "INVALID_INPUT"
    (box.root / "file").touch()
    assert box.refused("read_file", path="file/x").message == "`file` is not a folder."


def test_it_finds_a_name_however_its_accent_is_composed(box):
    (box.root / "cafe\u0301.js").write_text("nfd")
    assert box.call("read_file", path="caf\u00e9.js")["text"] == "nfd"
    box.call("write_file", path="caf\u00e9.js", text="still one file")
    assert len(list(box.root.iterdir())) == 1


# ── search_text ─────────────────────────────────────────────────────────────────────────────────


def test_it_finds_lines_with_their_numbers(box):
    box.call("write_file", path="a.txt", text="one\ntwo needle needle\r\nthree\n\nneedle")
    box.call("write_file", path="b/c.txt", text="no\nNeedle\n")
    assert box.call("search_text", query="needle") == {
        "matches": [
            {"path": "a.txt", "line": 2, "text": "two needle needle"},
            {"path": "a.txt", "line": 5, "text": "needle"},
        ],
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("query", "lines"),
    [(r"^b", [2]), (r"a\d+$", [1]), (r"(?i)BETA", [2]), (r"\s", [3]), ("", None), ("(", None), (r"(?=x)", None)],
)
def test_it_matches_patterns_line_by_line(box, query, lines):
    box.call("write_file", path="a.txt", text="alpha12\nbeta\ng h\n")
    if lines is None:
        assert (error := box.refused("search_text", query=query, regex=True)).code == "INVALID_INPUT"
        assert error.field == "query"
    else:
        found = box.call("search_text", query=query, regex=True)["matches"]
        assert [match["line"] for match in found] == lines


def test_it_takes_a_literal_query_literally(box):
    box.call("write_file", path="a.txt", text="aXb\na.b\n")
    assert [match["line"] for match in box.call("search_text", query="a.b")["matches"]] == [2]


def test_it_is_not_held_up_by_a_pattern_that_backtracks(box):
    box.call("write_file", path="a.txt", text="a" * 200_000)
    started = time.monotonic()
    assert box.call("search_text", query="(a+a+)+b", regex=True)["matches"] == []
    assert time.monotonic() - started < 3
    assert box.refused("search_text", query="(?:a?){1000}b[^c]{900}d", regex=True).code == "INVALID_INPUT"


def test_it_searches_names_at_any_depth_and_single_files(box):
    for path in ["a.py", "src/b.py", "src/c.js"]:
        box.call("write_file", path=path, text="needle")
    assert [match["path"] for match in box.call("search_text", query="needle", glob="*.py")["matches"]] == [
        "a.py",
        "src/b.py",
    ]
    assert len(box.call("search_text", query="needle", path="src", glob="*.{py,js}")["matches"]) == 2
    assert len(box.call("search_text", query="needle", path="src/c.js")["matches"]) == 1
    assert box.refused("search_text", query="needle", path="nowhere").code == "NOT_FOUND"


def test_it_passes_over_binary_files_and_shows_odd_encodings(box):
    (box.root / "binary").write_bytes(b"needle\0")
    (box.root / "latin.txt").write_bytes(b"se\xf1al needle")
    assert box.call("search_text", query="needle")["matches"] == [
        {"path": "latin.txt", "line": 1, "text": "se\ufffdal needle"}
    ]


def test_it_shows_the_piece_of_a_long_line_that_matches(box):
    box.call("write_file", path="a.json", text="x" * 400_000 + "needle" + "y" * 400_000)
    (match,) = box.call("search_text", query="needle")["matches"]
    assert "needle" in match["text"]
    assert len(match["text"]) <= 502
    assert match["line"] == 1


def test_it_counts_lines_across_blocks(box):
    box.call("write_file", path="a.txt", text="filler line\n" * 100_000 + "needle\n" + "filler line\n" * 10)
    assert box.call("search_text", query="needle")["matches"] == [{"path": "a.txt", "line": 100_001, "text": "needle"}]


def test_it_says_when_matches_are_cut(box):
    box.call("write_file", path="a.txt", text="needle\n" * 10)
    assert box.call("search_text", query="needle", limit=10)["truncated"] is False
    cut = box.call("search_text", query="needle", limit=9)
    assert (len(cut["matches"]), cut["truncated"]) == (9, True)


def test_it_hears_a_stop_between_the_blocks_of_a_large_file(box):
    class AsksForAStop:
        calls = 0

        def find(self, block: bytes, start: int) -> int:
            self.calls += 1
            box.stop.request()
            return -1

    (box.root / "large.txt").write_bytes(b"abc def\n" * MIB)
    wanted = AsksForAStop()
    with (box.root / "large.txt").open("rb") as file, pytest.raises(Cancelled):
        list(search_file(file.fileno(), wanted, box.stop))
    assert wanted.calls == 1


@pytest.mark.parametrize(("name", "arguments"), [("list_files", {}), ("search_text", {"query": "x"})])
def test_it_does_nothing_more_once_it_is_stopped(box, name, arguments):
    box.call("write_file", path="a.txt", text="x")
    box.stop.request()
    assert box.refused(name, **arguments).code == "CANCELLED"
    assert box.refused("read_file", path="a.txt").code == "CANCELLED"


# ── write_file ──────────────────────────────────────────────────────────────────────────────────


def test_it_writes_appends_and_makes_folders(box):
    assert box.call("write_file", path="out/a.txt", text="señal\n") == {"path": "out/a.txt", "bytes": 7}
    assert box.call("write_file", path="out/a.txt", text="more", append=True) == {"path": "out/a.txt", "bytes": 11}
    assert (box.root / "out" / "a.txt").read_text() == "señal\nmore"
    assert box.call("write_file", path="out/a.txt", text="") == {"path": "out/a.txt", "bytes": 0}
    assert box.call("write_file", path="new.txt", text="x", append=True)["bytes"] == 1


def test_it_keeps_the_mode_of_a_file_it_replaces(box):
    (box.root / "run.sh").write_text("old")
    (box.root / "run.sh").chmod(0o755)
    box.call("write_file", path="run.sh", text="new")
    assert (box.root / "run.sh").stat().st_mode & 0o777 == 0o755


def test_it_leaves_the_old_file_and_no_other_when_a_write_is_stopped(box):
    (box.root / "a.txt").write_text("old")
    box.stop.request()
    for append in [False, True]:
        assert box.refused("write_file", path="a.txt", text="new", append=append).code == "CANCELLED"
    assert [(found.name, found.read_text()) for found in box.root.iterdir()] == [("a.txt", "old")]


def test_it_keeps_every_line_of_parallel_appends(box):
    def append(number: int) -> None:
        for turn in range(20):
            box.call("write_file", path="log.txt", text=f"{number}-{turn}\n", append=True)

    box.call("write_file", path="log.txt", text="")
    threads = [threading.Thread(target=append, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(set((box.root / "log.txt").read_text().splitlines())) == 100


def test_it_refuses_half_a_surrogate_pair(box):
    error = box.refused("write_file", path="a.txt", text="\ud83d")
    assert (error.code, error.field) == ("INVALID_INPUT", "text")


def test_it_refuses_to_write_a_folder_or_below_a_file(box):
    box.call("write_file", path="a.txt", text="x")
    (box.root / "folder").mkdir()
    for path in ["", "folder", "a.txt/b.txt"]:
        assert box.refused("write_file", path=path, text="x").code == "INVALID_INPUT"


def test_it_uses_the_scratchpad_by_its_prefix(box):
    assert box.call("write_file", path="scratch:out/plan.js", text="return 1") == {
        "path": "scratch:out/plan.js",
        "bytes": 8,
    }
    assert box.paths(path="scratch:", glob="**") == ["scratch:out", "scratch:out/plan.js"]
    assert box.call("read_file", path="scratch:out/plan.js")["text"] == "return 1"
    assert box.call("search_text", query="return", path="scratch:")["matches"][0]["path"] == "scratch:out/plan.js"
    assert box.paths() == []


def test_it_says_that_the_scratchpad_is_off(box):
    box.scratch = None
    assert box.refused("list_files", path="scratch:").code == "DISABLED"


def test_it_says_that_a_workspace_is_missing_without_its_path(box):
    box.root.rmdir()
    error = box.refused("list_files")
    assert error.code == "NOT_FOUND"
    assert str(box.root) not in str(error.as_dict())


def test_the_tools_answer_in_the_shape_their_schema_promises(box):
    from jsonschema import Draft202012Validator

    box.call("write_file", path="a.txt", text="needle")
    answers = {
        "list_files": box.call("list_files"),
        "read_file": box.call("read_file", path="a.txt"),
        "search_text": box.call("search_text", query="needle"),
        "write_file": box.call("write_file", path="a.txt", text="x"),
    }
    for tool in FILE_TOOLS:
        Draft202012Validator(tool.output_schema).validate(answers[tool.name])
        Draft202012Validator.check_schema(tool.input_schema)


def test_a_doubled_prefix_is_told_in_readable_words(box):
    error = box.refused("read_file", path="scratch:scratch:x.js")
    assert error.message == "`scratch:x.js` does not exist."
    assert "once" in (error.hint or "")


@pytest.mark.parametrize("asked", ["scratch\\x3Aodd name.js", "./scratch:odd name.js"])
def test_a_workspace_file_named_like_a_scratch_path_can_be_asked_for(box, asked):
    (box.root / "scratch:odd name.js").write_text("x")
    assert box.paths() == ["scratch\\x3Aodd name.js"]
    assert box.call("read_file", path=asked)["text"] == "x"


def test_a_scratch_file_with_the_prefix_in_its_name_is_listed_as_it_is_asked_for(box):
    box.call("write_file", path="scratch:scratch:x.js", text="x")
    assert box.paths(path="scratch:") == ["scratch:scratch:x.js"]
    assert box.call("read_file", path="scratch:scratch:x.js")["text"] == "x"


def test_a_write_removes_what_a_killed_writer_left_in_its_folder(box):
    (box.root / "d").mkdir()
    old, young = box.root / "d" / f".forja-write-{'0' * 16}", box.root / "d" / f".forja-write-{'1' * 16}"
    theirs, elsewhere = box.root / "d" / ".forja-write-notes", box.root / f".forja-write-{'0' * 16}"
    for path in (old, young, theirs, elsewhere):
        path.write_bytes(b"half")
    for path in (old, theirs, elsewhere):
        os.utime(path, (0, 0))
    box.call("write_file", path="d/a.txt", text="x")
    assert not old.exists()
    assert young.exists() and theirs.exists() and elsewhere.exists()
    assert box.paths(path="d") == ["d/a.txt"]


def test_a_folder_is_not_looked_through_at_every_write(box, monkeypatch):
    looked = []
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda fd: looked.append(fd) or listdir(fd))
    for number in range(5):
        box.call("write_file", path=f"{number}.txt", text="x")
    assert len(looked) == 1
    monkeypatch.setattr("runs.tools.writing.SWEEP_EVERY_S", 0)
    box.call("write_file", path="more.txt", text="x")
    assert len(looked) == 2
