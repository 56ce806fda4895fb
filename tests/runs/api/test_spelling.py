"""What HTTP lets a client write in several ways: numbers, media types, content codings, chunks."""

from __future__ import annotations

import pytest

JSON = {"Content-Type": "application/json"}
BODY = b'{"title": "Chunk by chunk"}'


@pytest.mark.parametrize("limit", ["1_0", "٣", "+1", "%201", "1%20", "0x1", "1e1", "1.0", "", "true"])
def test_a_whole_number_in_a_query_is_digits_alone(api, limit):
    status, code, error = api.refused("GET", f"/api/runs?limit={limit}")
    assert (status, code, error["message"]) == (400, "INVALID_INPUT", "`limit` must be a whole number.")


@pytest.mark.parametrize("wait", ["1_0", "٣", "+1", "%201", "0x1", "1e1", ".5", "1.", "", "inf"])
def test_a_number_in_a_query_is_digits_with_at_most_one_point(api, room, wait):
    _, code, error = api.refused(
        "POST", f"/api/sessions/{room.id}/runs?wait={wait}", json={"tool": "js_run", "code": "return 1"}
    )
    assert (code, error["message"]) == ("INVALID_INPUT", "`wait` must be a number.")


@pytest.mark.parametrize("limit", ["1", "007", "200"])
def test_digits_are_a_whole_number(api, limit):
    assert api.get(f"/api/runs?limit={limit}").status_code == 200


@pytest.mark.parametrize(
    "kind",
    ["application/JSON", "Application/Json; charset=UTF-8", 'application/json; charset="utf-8"', " application/json "],
)
def test_json_is_json_however_its_type_is_spelt(api, kind):
    assert api.call("POST", "/api/sessions", content=BODY, headers={"Content-Type": kind}).status_code == 201


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "identity, gzip", "x"])
def test_a_body_in_a_coding_that_nothing_here_undoes_is_refused(api, coding):
    headers = JSON | {"Content-Encoding": coding}
    status, code, error = api.refused("POST", "/api/sessions", content=BODY, headers=headers)
    assert (status, code) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert "Content-Encoding" in error["hint"]


@pytest.mark.parametrize("coding", ["identity", "Identity", ""])
def test_the_coding_that_changes_nothing_is_taken(api, coding):
    reply = api.call("POST", "/api/sessions", content=BODY, headers=JSON | {"Content-Encoding": coding})
    assert reply.status_code == 201, reply.text


def test_a_body_in_chunks_is_read_whole(live_forja):
    pieces = (BODY[i : i + 5] for i in range(0, len(BODY), 5))
    reply = live_forja.client.post("/api/sessions", content=pieces, headers=JSON)
    assert reply.request.headers["Transfer-Encoding"] == "chunked"
    assert (reply.status_code, reply.json()["title"]) == (201, "Chunk by chunk")
