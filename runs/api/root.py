"""The API put together: its routers, its authentication, its one error shape."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from runs.api import events, output, people, runs, sessions
from runs.api.callers import Authentication
from runs.api.docs import Pages
from runs.api.errors import error_reply
from runs.api.parameters import strict_query
from runs.api.schemas import HealthOut

DESCRIPTION = """\
Send `Authorization: Bearer TOKEN`, or use a signed-in page's session with its CSRF token.

Every refusal is `{"error": {"code", "message", "hint", "field"?}}`. A method that a path does not know is
answered as `NOT_FOUND`, with the `Allow` header naming those it does. Unknown fields, unknown query parameters
and duplicate keys are refused by name. Times are ISO 8601 in UTC. A figure that was not measured is absent.
"""


_HEALTH = {
    "operationId": "health",
    "tags": ["health"],
    "summary": "Tell whether this instance is well",
    "description": "`degraded`: no worker is there, so runs wait. `unavailable`: no database or no broker.",
    "security": [],
    "responses": {
        status: {"description": words, "content": {"application/json": {"schema": HealthOut.json_schema()}}}
        for status, words in ((200, "It takes runs"), (503, "It cannot take runs"))
    },
}


class Api(NinjaAPI):
    """The API with the one operation beside it, which needs no caller and so none of its machinery."""

    def get_openapi_schema(self, **options: Any) -> Any:
        schema = super().get_openapi_schema(**options)
        schema["paths"]["/health"] = {"get": _HEALTH}
        return schema


def _refused(request: HttpRequest, error: Any) -> HttpResponse:
    return error_reply(error)


def build() -> NinjaAPI:
    api = Api(
        title="Forja",
        version=settings.FORJA_VERSION,
        description=DESCRIPTION,
        urls_namespace="api",
        auth=Authentication(),
        docs=Pages(),
    )
    api.add_decorator(strict_query)
    for kind in (Exception, AuthenticationError, ValidationError, HttpError, Http404):
        api.add_exception_handler(kind, _refused)
    api.add_router("/sessions", sessions.router)
    for module in (runs, events, output, people):
        api.add_router("", module.router)
    return api


api = build()
