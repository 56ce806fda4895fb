"""A signed-in person in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.journeys.person import Person
from tests.live import LiveForja


def link_of(forja: LiveForja) -> str:
    """A fresh sign-in link, as `manage.py token` or `user` would print; the printed one is the admin's own."""
    return forja.sign_in_path()


@pytest.fixture
def context(chromium: Browser, live_forja: LiveForja) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=live_forja.url, viewport={"width": 1440, "height": 1000}, locale="en-GB")
    context.set_default_timeout(15_000)
    yield context
    context.close()


@pytest.fixture
def person(context: BrowserContext, live_forja: LiveForja) -> Iterator[Person]:
    """Somebody signed in by the printed link, with an empty session open; their browser must not complain."""
    person = Person(context.new_page())
    person.signs_in(link_of(live_forja))
    person.opens_session("Journey")
    yield person
    assert person.complaints == []
