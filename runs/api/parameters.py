"""Query strings, ids and cursors, held to what an operation declares."""

from __future__ import annotations

import base64
import binascii
import functools
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticKnownError

from runs.requests import storable
from sandboxes.errors import InvalidInput, NotFound

EXACT_UP_TO = 10_000
"""Totals are counted to here; beyond it a count would cost more than it tells."""

_ID = re.compile(r"[0-9A-Za-z_-]{1,40}")


def _spelt(pattern: str, error: Literal["int_parsing", "float_parsing"]) -> BeforeValidator:
    """Hold a number in a query to one spelling: Python's own also takes `1_0`, ` 1` and `1e1`."""

    def check(text: Any) -> Any:
        if isinstance(text, str) and not re.fullmatch(pattern, text):
            raise PydanticKnownError(error)
        return text

    return BeforeValidator(check)


_WHOLE = _spelt(r"-?[0-9]+", "int_parsing")
Decimal = _spelt(r"-?[0-9]+(\.[0-9]+)?", "float_parsing")
Seq = Annotated[int, Field(ge=0, le=2**31 - 1), _WHOLE]
PageSize = Annotated[int, Field(ge=1, le=200), _WHOLE]


def strict_query(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse, by name, every query parameter that the operation does not declare, or that comes twice."""
    parameters = inspect.signature(operation).parameters.items()
    known = [name for name, parameter in parameters if parameter.default is not parameter.empty]

    @functools.wraps(operation)
    async def checked(request: HttpRequest, **values: Any) -> Any:
        if request.META["QUERY_STRING"]:
            _check_query(request, known)
        return await operation(request, **values)

    return checked


def _check_query(request: HttpRequest, known: list[str]) -> None:
    for name, given in request.GET.lists():
        shown = storable(name[:100])
        if name not in known:
            hint = f"This takes {', '.join(known)}." if known else "This takes no query parameters."
            raise InvalidInput(f"Unknown query parameter `{shown}`.", hint=hint, field=shown)
        if len(given) > 1:
            raise InvalidInput(f"`{shown}` is given {len(given)} times.", hint="Send it once.", field=shown)


def checked_id(value: str) -> str:
    """An id that could exist; anything else is `NOT_FOUND` before a query sees it."""
    if not _ID.fullmatch(value):
        raise NotFound("There is nothing with this id.")
    return value


def encode_cursor(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode("ascii")).decode("ascii").rstrip("=")


def decode_cursor(cursor: str, pattern: str) -> str:
    """The key a page ended with; a cursor of another list, or a made-up one, is `INVALID_INPUT`."""
    try:
        key = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        key = ""
    if not re.fullmatch(pattern, key):
        raise InvalidInput("This is no cursor of this list.", hint="Send `nextCursor` as it was given.", field="cursor")
    return key
