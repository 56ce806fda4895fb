"""The pages at /api/docs: Swagger UI from our own static files, under a policy as strict as it bears."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI, Swagger

# Swagger UI draws its icons from data: URLs in its style sheet; nothing else is let through.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


class Pages(Swagger):
    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        page = super().render_page(request, api, **kwargs)
        page["Content-Security-Policy"] = POLICY
        return page
