"""People who look at pages; the engine is faked: runs end when a test writes that they did."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.accounts import create_user
from runs.models import Session, User
from tests.runs.page.scribe import Scribe


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from runs import services
    from runs.engines import Choice

    choice = Choice(backend="quickjs", isolation="isolated", reason="a test", engine=None, controls=lambda limits: {})
    monkeypatch.setattr(services, "choose_engine", lambda config, tool: choice)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def browser(owner: User) -> Client:
    """The owner's browser."""
    return signed_in(owner)


@pytest.fixture
def stranger(db: None) -> Client:
    return signed_in(create_user(name="stranger"))


@pytest.fixture
def analyst(db: None) -> Client:
    return signed_in(create_user(name="analyst", role=User.Role.ANALYST))


@pytest.fixture
def scribe(session: Session) -> Scribe:
    return Scribe(session)
