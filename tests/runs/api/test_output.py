"""The whole stored text of a run."""

from __future__ import annotations

import pytest

from runs.streams import StreamStore
from tests.runs.factories import queued_run


def test_a_short_text_comes_from_the_row(api, room):
    run = queued_run(room, stdout_head="hello\n", stdout_chars=6, stderr_head="oh\n", stderr_chars=3)
    reply = api.get(f"/api/runs/{run.id}/output")
    assert reply.text == "hello\n"
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert api.get(f"/api/runs/{run.id}/output?stream=stderr").text == "oh\n"


def test_a_long_text_comes_whole(api, room):
    run = queued_run(room)
    store = StreamStore(run_id=run.id, stream="stdout")
    text = "".join(f"line {number} <script>é\n" for number in range(20_000))
    store.write(text)
    store.close()
    reply = api.get(f"/api/runs/{run.id}/output?stream=stdout")
    assert reply.text == text
    assert f"{run.id}-stdout.txt" in reply.headers["content-disposition"]


@pytest.mark.parametrize("stream", ["stdin", "../x", ""])
def test_another_stream_is_refused(api, room, stream):
    status, code, error = api.refused("GET", f"/api/runs/{queued_run(room).id}/output?stream={stream}")
    assert (status, code, error["field"]) == (400, "INVALID_INPUT", "stream")
