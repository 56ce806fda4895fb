"""Every refusal in the one shape: `{"error": {"code", "message", "hint", "field"?}}`."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpResponse
from ninja.errors import AuthenticationError, ValidationError

from runs.api.replies import json_reply
from sandboxes.errors import Forbidden, ForjaError, Internal, InvalidInput, NotFound, SourceTooLarge, Unauthenticated

RETRY_AFTER_S = 1

# What the framework finds wrong with a parameter, in our words.
_WORDS = {
    "missing": "is missing",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
}

log = logging.getLogger(__name__)


def error_reply(error: Exception) -> HttpResponse:
    """Answer an exception; one that is not ours is logged and told as `INTERNAL`, without its trace."""
    known = as_forja_error(error)
    if known is None:
        log.error("a request failed", exc_info=error)
        known = Internal("The server made an error; it is in its log.")
    return _reply(known)


def as_forja_error(error: Exception) -> ForjaError | None:
    """Translate what the framework raises into the closed list of codes."""
    match error:
        case ForjaError():
            return error
        case ValidationError():
            return _invalid_parameter(error)
        case AuthenticationError():
            return Unauthenticated("This needs a token or a signed-in page.")
        case Http404():
            return NotFound("There is nothing at this path.", hint="See /api/openapi.json for the paths there are.")
        case RequestDataTooBig():
            return SourceTooLarge("The request body is too large.")
        case PermissionDenied():
            return Forbidden("This is not allowed.")
        case SuspiciousOperation() | BadRequest() | UnicodeDecodeError():
            return InvalidInput("The request is malformed.", hint="Check its Host header, path and query string.")
    return None


def _invalid_parameter(error: ValidationError) -> InvalidInput:
    first: dict[str, Any] = error.errors[0] if error.errors else {}
    field = str((first.get("loc") or ("query",))[-1])[:100]
    facts = {name: _shown(fact) for name, fact in (first.get("ctx") or {}).items()}
    words = _WORDS.get(str(first.get("type")), "is not valid").format_map(facts)
    return InvalidInput(f"`{field}` {words}.", field=field)


def _shown(fact: Any) -> str:
    """A bound without the `.0` of a number that happens to be a float."""
    return f"{fact:,.0f}" if isinstance(fact, (int, float)) and fact == int(fact) else str(fact)


def _reply(error: ForjaError) -> HttpResponse:
    # A script's error has no status of its own: met at the door, it is the request that was wrong.
    status = error.http_status if error.http_status >= 400 else 400
    reply = json_reply({"error": error.as_dict()}, status=status)
    if status == 401:
        reply["WWW-Authenticate"] = "Bearer"
    if status == 429:
        reply["Retry-After"] = str(error.details.get("retryAfter", RETRY_AFTER_S))
    return reply
