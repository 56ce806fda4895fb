"""Every path of the site."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from runs.api.root import api
from runs.health import health

handler404 = "runs.views.page.not_found"
urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", api.urls),
    path("health", health, name="health"),
    path("", include("runs.urls")),
]
