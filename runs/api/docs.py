"""The pages at /api/docs: Swagger UI from our own static files, under a policy as strict as it bears."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI, Swagger

from runs.api.callers import csrf_token, with_csrf_cookie

# Swagger UI draws its icons from data: URLs in its style sheet; nothing else is let through.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


class Pages(Swagger):
    """The page, with what "Try it out" needs to write as the browser that is signed in."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        signed_in = settings.SESSION_COOKIE_NAME in request.COOKIES
        options = self.settings | {"url": self.get_openapi_url(api, kwargs)}
        context = {
            # `<` spelt out, so that no text can end the script element.
            "swagger_settings": json.dumps(options).replace("<", "\\u003c"),
            "csrf_token": csrf_token(request) if signed_in else "",
        }
        page = render(request, "api/docs.html", context)
        page["Content-Security-Policy"] = POLICY
        return with_csrf_cookie(request, page) if signed_in else page
