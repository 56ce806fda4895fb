"""Reading request bodies strictly: bounded, UTF-8, JSON with no duplicate key, no NaN, no depth bomb."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from typing import Any

from django.http import HttpRequest

from runs.requests import is_too_deep, storable
from sandboxes.base import MAX_DEPTH
from sandboxes.errors import InvalidInput, UnsupportedMediaType

JSON_TYPE = "application/json"


def read_object(request: HttpRequest, *, fields: Collection[str] | None = None) -> dict[str, Any]:
    """Give the body as an object; with `fields`, any other field is refused by name."""
    _require_json(request)
    body = decode(request.body)
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object.", hint='Send an object: {"name": value, …}.')
    if fields is not None:
        refuse_unknown(body, fields)
    return body


def read_nothing(request: HttpRequest) -> None:
    """For operations without input: an empty body or `{}`."""
    if request.body:
        read_object(request, fields=())


def refuse_unknown(body: dict[str, Any], fields: Collection[str]) -> None:
    for name in body:
        if name not in fields:
            shown = storable(name[:100])
            hint = f"The fields are {', '.join(sorted(fields))}." if fields else "This takes no fields."
            raise InvalidInput(f"Unknown field `{shown}`.", hint=hint, field=shown)


def text_field(body: dict[str, Any], name: str) -> str | None:
    """A string without NUL or lone surrogates, or None when it is absent or null."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"`{name}` must be a string.", field=name)
    if storable(value) != value:
        raise InvalidInput(f"`{name}` holds a NUL or half a surrogate pair.", field=name)
    return value


def decode(raw: bytes) -> Any:
    """Decode strict JSON; every way to be wrong is `INVALID_INPUT` with the place."""
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The body is not UTF-8 (byte {error.start}).", hint="Encode it as UTF-8.") from error
    except RecursionError as error:
        raise _too_deep() from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(f"The body is not JSON: {error.msg} ({place}).", hint="Send one JSON object.") from error
    except ValueError as error:
        # Python refuses integers of thousands of digits with a plain ValueError.
        raise InvalidInput("The body holds a number with too many digits.", hint="Send it as a string.") from error
    # Each level needs a bracket, so most bodies need no walk.
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and is_too_deep(value):
        raise _too_deep()
    return value


def _require_json(request: HttpRequest) -> None:
    coding = request.headers.get("Content-Encoding", "").strip().lower()
    if coding not in ("", "identity"):
        raise UnsupportedMediaType(
            f"The body is sent with the content coding {storable(coding[:40])}, which nothing here undoes.",
            hint="Send it as it is, without Content-Encoding.",
        )
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if request.content_type != JSON_TYPE or charset not in ("utf-8", "utf8"):
        sent = (request.content_type or "nothing")[:100]
        raise UnsupportedMediaType(f"The body must be {JSON_TYPE} in UTF-8; it was sent as {sent}.")


def _too_deep() -> InvalidInput:
    return InvalidInput(f"The body is nested more than {MAX_DEPTH} levels deep.", hint="Flatten it.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                shown = storable(name[:100])
                raise InvalidInput(f"The key `{shown}` is given twice.", hint="Send each key once.", field=shown)
            seen.add(name)
    return result


def _refuse_constant(name: str) -> None:
    raise InvalidInput(f"{name} is not JSON.", hint="Send null, or the number as a string.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidInput(f"The number {text[:40]} is too large.", hint="Send it as a string.")
    return number
