"""Printed text: head, tail, and the whole on disk."""

from __future__ import annotations

import pytest

from runs.models import Run
from runs.output import budgets, output_parts, text_for_model
from runs.streams import PART_CHARS, StreamStore, path_of
from sandboxes import base


@pytest.fixture(autouse=True)
def home(settings, tmp_path):
    settings.FORJA_HOME = tmp_path


def written(*texts: str) -> StreamStore:
    store = StreamStore(run_id="r", stream="stdout")
    for text in texts:
        store.write(text)
    store.close()
    return store


def test_short_text_stays_in_memory():
    store = written("one ", "two")
    assert (store.head, store.tail, store.chars) == ("one two", "", 7)
    assert not path_of("r", "stdout").exists()


@pytest.mark.parametrize("size", [1, 999, 10_000, 70_000])
def test_long_text_keeps_both_ends_and_the_whole(size):
    whole = "".join(f"{number}," for number in range(60_000))
    store = written(*(whole[start : start + size] for start in range(0, len(whole), size)))
    assert store.head == whole[:PART_CHARS]
    assert store.tail == whole[-PART_CHARS:]
    assert path_of("r", "stdout").read_text() == whole


def test_text_of_exactly_both_parts_has_no_file_and_no_gap():
    whole = "x" * PART_CHARS + "y" * PART_CHARS
    store = written(whole)
    assert store.head + store.tail == whole
    assert not path_of("r", "stdout").exists()


def test_beyond_the_cap_it_is_counted_only(monkeypatch):
    monkeypatch.setattr("runs.streams.MAX_STORED_OUTPUT_BYTES", 100_000)
    store = written("x" * 60_000, "y" * 60_000, "z" * 60_000)
    assert store.chars == 180_000
    assert path_of("r", "stdout").stat().st_size == 100_000
    assert base.MAX_STORED_OUTPUT_BYTES == 64 * base.MIB


def test_what_goes_back_fits_the_budget_and_says_what_is_missing():
    run = Run(stdout_head="a" * PART_CHARS, stdout_tail="z" * PART_CHARS, stdout_chars=1_000_000)
    parts = output_parts(run, "stdout", 1_000)
    assert len(parts.text) <= 1_000
    assert parts.text.startswith("aaa") and parts.text.endswith("zzz")
    assert parts.omitted == 1_000_000 - len(parts.head) - len(parts.tail)


def test_a_model_gets_value_and_text_within_one_budget():
    run = Run(limits={"maxOutputChars": 1000}, value_json='"' + "é" * 5000 + '"', stdout_head="x" * 50, stdout_chars=50)
    value, stdout, stderr = text_for_model(run)
    assert len(value) + len(stdout) + len(stderr) <= 1000
    assert value.startswith('"é') and value.endswith('é"') and "characters omitted" in value
    run.value_json = '"é"'
    assert text_for_model(run) == ('"é"', "x" * 50, "")


def test_value_and_text_share_one_budget():
    run = Run(limits={"maxOutputChars": 1000}, value_json="x" * 400, stdout_chars=5000, stderr_chars=5000)
    shared = budgets(run)
    assert shared["stdout"] + shared["stderr"] == 600
    assert shared["stderr"] == 150
