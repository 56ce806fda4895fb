"""What is checked of a request at the door: the script's arguments."""

from __future__ import annotations

import json

import pytest

from runs.requests import encode_args, parse_run_request
from sandboxes.errors import InvalidInput

LARGEST = 2**53


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"n": LARGEST + 1}, "args.n"),
        ({"rows": [{"id": 1}, {"id": LARGEST + 1}]}, "args.rows[1].id"),
        ({"a": {"odd key": [[LARGEST + 1]]}}, 'args.a["odd key"][0][0]'),
        ({"n": 10**400}, "args.n"),
    ],
)
def test_an_integer_a_script_cannot_hold_exactly_is_refused_with_its_place(args, field, sign):
    signed = json.loads(json.dumps(args).replace(": 9", f": {sign * 9}").replace("[9", f"[{sign * 9}"))
    with pytest.raises(InvalidInput) as caught:
        parse_run_request({"tool": "js_run", "code": "return 1", "args": signed})
    assert caught.value.field == field
    assert f"`{field}`" in caught.value.message
    assert "string" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "args",
    [
        {"n": LARGEST},
        {"n": -LARGEST},
        {"n": str(LARGEST + 1)},
        {"n": 1.5e300},
        {str(10**20): True},
        {"n": 0.1234567890123456},
    ],
)
def test_what_reaches_the_script_unchanged_is_taken(args):
    assert json.loads(encode_args(args)) == args


def test_a_place_deep_inside_is_named_in_few_words():
    args: dict = {"n": LARGEST + 1}
    for _ in range(200):
        args = {"deeper": args}
    with pytest.raises(InvalidInput) as caught:
        encode_args(args)
    assert len(caught.value.message) < 400
