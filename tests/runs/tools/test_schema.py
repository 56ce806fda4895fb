"""Checking arguments against a schema: the field is named, the value is not repeated."""

from __future__ import annotations

import time

import pytest

from runs.tools.schema import validate
from sandboxes.errors import InvalidInput

SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
        "mode": {"enum": ["a", "b"]},
        "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
        "rows": {
            "type": "array",
            "maxItems": 2,
            "items": {"type": "object", "properties": {"id": {"type": "integer"}}},
        },
        "either": {"type": ["string", "null"]},
    },
    "additionalProperties": False,
}


def refusal(**arguments):
    with pytest.raises(InvalidInput) as caught:
        validate(arguments, SCHEMA)
    return caught.value


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        ({"limit": "x"}, "limit", "`limit` must be of type integer."),
        ({"limit": True}, "limit", "`limit` must be of type integer."),
        ({"limit": 0}, "limit", "`limit` must be at least 1."),
        ({"limit": 11}, "limit", "`limit` must be at most 10."),
        ({"mode": "c"}, "mode", "`mode` must be one of a, b."),
        ({"name": "a"}, "name", "`name` must have at least 2 characters."),
        ({"name": "abcde"}, "name", "`name` must have at most 4 characters."),
        ({"name": "ABC"}, "name", "`name` does not fit the tool's schema (pattern)."),
        ({"rows": [{}, {}, {}]}, "rows", "`rows` must have at most 2 items."),
        ({"rows": [{}, {"id": "x"}]}, "rows[1].id", "`rows[1].id` must be of type integer."),
        ({"either": 1}, "either", "`either` must be of type string or null."),
        ({"limt": 1}, "limt", "`limt` is no field of this tool."),
    ],
)
def test_it_names_the_field_and_the_rule(arguments, field, message):
    error = refusal(**arguments)
    assert (error.field, error.message) == (field, message)


def test_it_names_the_nearest_known_field():
    assert refusal(limt=1).hint == "Did you mean `limit`?"
    assert refusal(**{"a\0\ud83d": 1}).field == "a\\u0000\\ud83d"
    assert refusal(zzz=1).hint == "It takes `limit`, `mode`, `name`, `rows`, `either`."


def test_it_names_a_field_that_is_missing():
    with pytest.raises(InvalidInput, match="`id` is missing") as caught:
        validate({}, {"type": "object", "required": ["id"]})
    assert caught.value.field == "id"


def test_it_fills_in_defaults_and_keeps_what_was_given():
    assert validate({}, SCHEMA) == {"limit": 5}
    assert validate({"limit": 7, "mode": "a"}, SCHEMA) == {"limit": 7, "mode": "a"}


def test_it_never_repeats_a_huge_value():
    assert len(refusal(limit="x" * 1_000_000).message) < 200
    assert len(refusal(**{"x" * 1_000_000: 1}).message) < 300


def test_it_is_not_held_up_by_a_pattern_that_backtracks():
    started = time.monotonic()
    with pytest.raises(InvalidInput):
        validate({"a": "a" * 5000}, {"type": "object", "properties": {"a": {"pattern": "^(a+)+$b"}}})
    assert time.monotonic() - started < 1


def test_it_looks_for_the_first_fault_only():
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    started = time.monotonic()
    with pytest.raises(InvalidInput):
        validate({"a": ["x"] * 500_000}, schema)
    assert time.monotonic() - started < 1


def test_it_never_fetches_a_schema_from_elsewhere():
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    with pytest.raises(Exception, match="127.0.0.1:9") as caught:
        validate({"a": 1}, schema)
    assert "Unresolvable" in type(caught.value).__name__ or "Unresolvable" in repr(caught.value)
