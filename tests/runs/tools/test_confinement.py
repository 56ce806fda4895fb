"""Nothing outside a workspace is ever read or written, whatever lies in it and whoever changes it meanwhile."""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from pathlib import Path

import pytest

from sandboxes.errors import ForjaError

SECRET = "outside secret"


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file.txt").write_text(SECRET)
    return folder


@pytest.mark.parametrize("path", ["link.txt", "dangling.txt", "folder/file.txt", "folder/missing.txt", "inner.txt"])
def test_it_follows_no_link_and_says_the_same_wherever_it_leads(box, outside, path):
    (box.root / "real.txt").write_text("inside")
    (box.root / "link.txt").symlink_to(outside / "file.txt")
    (box.root / "dangling.txt").symlink_to(outside / "missing.txt")
    (box.root / "inner.txt").symlink_to("real.txt")
    (box.root / "folder").symlink_to(outside)
    for name, more in [("read_file", {}), ("write_file", {"text": "x"}), ("write_file", {"text": "x", "append": True})]:
        error = box.refused(name, path=path, **more)
        assert error.code == "INVALID_INPUT"
        assert error.message == f"`{path.partition('/')[0]}` is a symbolic link."
    assert (outside / "file.txt").read_text() == SECRET
    assert not (outside / "missing.txt").exists()


def test_it_lists_links_as_links_and_neither_enters_nor_searches_them(box, outside):
    (box.root / "folder").symlink_to(outside)
    (box.root / "file.txt").symlink_to(outside / "file.txt")
    entries = box.call("list_files", glob="**")["entries"]
    assert [(entry["path"], entry["type"]) for entry in entries] == [("file.txt", "link"), ("folder", "link")]
    assert "bytes" not in entries[0]
    assert box.call("search_text", query="secret") == {"matches": [], "truncated": False}


def test_it_lists_a_hard_link_as_what_cannot_be_read(box, outside):
    os.link(outside / "file.txt", box.root / "hard.txt")
    (box.root / "plain.txt").write_text("x")
    entries = box.call("list_files")["entries"]
    assert [(entry["path"], entry["type"], entry.get("bytes")) for entry in entries] == [
        ("hard.txt", "other", None),
        ("plain.txt", "file", 1),
    ]


def test_it_refuses_hard_links(box, outside):
    os.link(outside / "file.txt", box.root / "hard.txt")
    for name, more in [("read_file", {}), ("write_file", {"text": "x"}), ("write_file", {"text": "x", "append": True})]:
        assert box.refused(name, path="hard.txt", **more).message == "`hard.txt` is a hard link."
    assert box.call("search_text", query="secret")["matches"] == []
    assert (outside / "file.txt").read_text() == SECRET


def test_it_refuses_special_files_without_waiting_for_them(box, monkeypatch):
    os.mkfifo(box.root / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(box.root)  # a socket's path may have 107 characters at most
    listener.bind("socket")
    for path in ["pipe", "socket"]:
        assert box.refused("read_file", path=path).message == f"`{path}` is a special file."
        assert box.refused("write_file", path=path, text="x").code == "INVALID_INPUT"
    assert [entry["type"] for entry in box.call("list_files")["entries"]] == ["other", "other"]
    listener.close()


@pytest.mark.parametrize(
    "path",
    [".forja/config.json", ".FORJA/config.json", ".forja", "./.forja/x", ".ｆorja/x", ".for\u200dja/x", ".forja./x"],
)
def test_it_never_touches_the_project_folder_however_it_is_spelt(box, path):
    (box.root / ".forja").mkdir()
    (box.root / ".forja" / "config.json").write_text("{}")
    for name, more in [("read_file", {}), ("write_file", {"text": "x"}), ("list_files", {})]:
        assert box.refused(name, path=path, **more).code == "PERMISSION_DENIED"
    assert (box.root / ".forja" / "config.json").read_text() == "{}"
    assert box.paths(glob="**") == []
    assert box.call("search_text", query="{")["matches"] == []


def test_it_makes_no_project_folder_or_file_of_that_name(box):
    for path in [".forja", ".Forja", ".forja/config.json"]:
        assert box.refused("write_file", path=path, text="x").code == "PERMISSION_DENIED"
    assert list(box.root.iterdir()) == []


def test_it_knows_the_project_folder_behind_another_name(box):
    (box.root / "a" / "conf").mkdir(parents=True)
    (box.root / "a" / "conf" / "config.json").write_text("{}")
    (box.root / ".forja").symlink_to("a/conf")
    assert box.refused("write_file", path="a/conf/config.json", text="x").code == "PERMISSION_DENIED"
    assert box.refused("read_file", path="a/conf/config.json").code == "PERMISSION_DENIED"


def test_it_lets_a_folder_of_that_name_further_down_be_used(box):
    box.call("write_file", path="sub/.forja/notes.txt", text="mine")
    assert box.call("read_file", path="sub/.forja/notes.txt")["text"] == "mine"


def test_it_answers_alike_for_what_is_outside_and_what_is_missing_outside(box, outside):
    found = box.refused("read_file", path="../outside/file.txt")
    missing = box.refused("read_file", path="../outside/missing.txt")
    assert found.as_dict() == missing.as_dict()
    assert box.refused("read_file", path=str(outside / "file.txt")).as_dict() == found.as_dict()


def _swap_until(done: threading.Event, place: Path, link: Path) -> None:
    """Exchange a folder and a link to the outside in one step, again and again."""
    libc = ctypes.CDLL(None, use_errno=True)
    at_cwd, exchange = -100, 2
    while not done.is_set():
        assert libc.renameat2(at_cwd, os.fsencode(place), at_cwd, os.fsencode(link), exchange) == 0


@pytest.fixture
def swapped(box, outside):
    """A folder `d` of the workspace that a thread swaps with a link to the outside all the time."""
    place, link = box.root / "d", box.root / "e"
    place.mkdir()
    (place / "file.txt").write_text("inside")
    link.symlink_to(outside)
    done = threading.Event()
    thread = threading.Thread(target=_swap_until, args=(done, place, link))
    thread.start()
    yield
    done.set()
    thread.join(10)


def test_it_never_reads_outside_while_a_folder_is_swapped_with_a_link(box, swapped):
    seen = set()
    for _ in range(2000):
        try:
            seen.add(box.call("read_file", path="d/file.txt")["text"])
        except ForjaError as error:
            seen.add(error.code)
    assert seen == {"inside", "INVALID_INPUT"}


def test_it_never_writes_or_searches_outside_while_a_folder_is_swapped_with_a_link(box, swapped, outside):
    seen = set()
    for turn in range(500):
        try:
            seen.add(box.call("write_file", path=f"d/new-{turn}.txt", text="x", append=turn % 2 == 1)["bytes"])
        except ForjaError as error:
            seen.add(error.code)
    assert seen == {1, "INVALID_INPUT"}
    assert box.call("search_text", query="secret")["matches"] == []
    assert [found.name for found in outside.iterdir()] == ["file.txt"]


def test_it_gives_back_every_handle_also_when_it_refuses_or_stops_early(box, open_handles):
    for number in range(20):
        box.call("write_file", path=f"a/b{number}/c.txt", text="needle\n" * 5)
    before = open_handles()
    for _ in range(20):
        box.call("search_text", query="needle", limit=1)
        box.call("list_files", glob="**", limit=3)
        box.refused("read_file", path="a/b1/missing")
        box.refused("read_file", path="a/b1")
        box.refused("write_file", path="a/b1", text="x")
    assert open_handles() == before
