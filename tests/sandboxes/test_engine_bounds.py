"""What comes from a guest is measured before it is read, and read without believing it."""

from __future__ import annotations

import pytest

from sandboxes.base import MAX_DEPTH
from sandboxes.quickjs.bounds import BadMessage, depth_of, read_call, read_progress, read_text
from sandboxes.quickjs.guest import HAS_BINDINGS, PublicGuest
from tests.sandboxes.engine_host import run, wait_for


def test_depth_is_counted_outside_strings_only():
    deep = b"[" * 600 + b"]" * 600
    assert depth_of(deep) == 600
    assert depth_of(b'{"a":"' + b"[" * 600 + b'","b":[1]}') == 2
    assert depth_of(b'["\\"' + b"[" * 600 + b'"]') == 1
    assert depth_of(b"[1]") <= MAX_DEPTH


def test_a_call_is_read_and_its_arguments_written_anew():
    request = read_call(b'{"id": 3, "tool": "t", "args": {"b": [1, 2.5, "\\ud83d"]}}')
    assert (request.call_id, request.tool, request.arguments_json) == (3, "t", '{"b":[1,2.5,"\\ud83d"]}')


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"id":true,"tool":"t","args":{}}',
        b'{"id":0,"tool":"t","args":{}}',
        b'{"id":1.5,"tool":"t","args":{}}',
        b'{"id":99999999999,"tool":"t","args":{}}',
        b'{"id":1,"tool":7,"args":{}}',
        b'{"id":1,"tool":"t","args":Infinity}',
        b'{"id":1,"tool":"t","args":' + b"9" * 5000 + b"}",
    ],
)
def test_a_bad_call_is_refused(payload):
    with pytest.raises(BadMessage):
        read_call(payload)


def test_a_call_at_the_allowed_depth_is_taken():
    inner = b'{"a":' * 499 + b"1" + b"}" * 499
    assert read_call(b'{"id":1,"tool":"t","args":' + inner + b"}").arguments_json.count("{") == 499


def test_progress_keeps_only_what_it_may_hold():
    event = read_progress(b'{"note":"\\ud800n","completed":true,"total":1e999}')
    assert (event.note, event.completed, event.total) == ("\\ud800n", None, None)
    assert read_progress(b'{"note":7,"completed":1,"total":2}').completed == 1.0
    assert len(read_progress(b'{"note":"' + b"x" * 5000 + b'"}').note) == 2000


def test_text_is_always_valid():
    assert read_text("ñ✓".encode()) == "ñ✓"
    assert read_text(b"a\xed\xa0\xbdb") == "a\\ud83db"
    assert read_text(b"a\xffb") == "a\ufffdb"


def test_the_pinned_runtime_has_the_quick_way_in():
    assert HAS_BINDINGS


def test_the_public_way_gives_the_same_results(built_engine, engine_cache, monkeypatch):
    from sandboxes.quickjs import guest
    from sandboxes.quickjs.backend import QuickJS

    monkeypatch.setattr(guest, "HAS_BINDINGS", False)
    engine = QuickJS(wasm_path=built_engine, cache_dir=engine_cache, host="worker", slots=1, instance="tests")
    try:
        code = "console.log('hi'); const r = await tools.call('t', { n: 1 }); return [r, Date.now() > 0]"
        ran = run(engine, code)
        assert (ran.value, ran.host.text()) == ([{"n": 1}, True], "hi\n")
        assert run(engine, "for (;;);", timeout_ms=50).code == "TIMEOUT"
        slot = engine._idle[0]._slot
        wait_for(lambda: slot._next is not None)
        assert isinstance(slot._next._guest, PublicGuest)
    finally:
        engine.close()
