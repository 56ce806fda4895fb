"""A caller of the real ASGI application; only the engine is faked, and no worker listens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import httpx
import pytest

from runs.accounts import create_token, create_user
from runs.models import Session, User
from runs.sessions import create_session

T = TypeVar("T")


class Api:
    """Requests as one user, one after the other or (`run`) several at once, on one event loop."""

    def __init__(self, runner: asyncio.Runner, headers: dict[str, str]) -> None:
        self._runner, self._headers = runner, headers

    def client(self) -> httpx.AsyncClient:
        from forja_site.asgi import application

        transport = httpx.ASGITransport(application)
        return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=self._headers, timeout=30)

    def run(self, work: Callable[[httpx.AsyncClient], Awaitable[T]]) -> T:
        async def wrapped() -> T:
            async with self.client() as client:
                return await work(client)

        return self._runner.run(wrapped())

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self.run(lambda client: client.request(method, path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.call("GET", path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> httpx.Response:
        return self.call("POST", path, json=json, **options)

    def refused(self, method: str, path: str, **options: Any) -> tuple[int, str, dict[str, Any]]:
        """Make a request that must be refused; gives status, code and the whole error."""
        reply = self.call(method, path, **options)
        assert reply.headers["content-type"] == "application/json", reply.text
        body = reply.json()
        assert set(body) == {"error"}, body
        assert {"code", "message", "hint"} <= set(body["error"]), body
        return reply.status_code, body["error"]["code"], body["error"]


def token_headers(user: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(user=user, name='test')}"}


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def user(transactional_db: None) -> User:
    return create_user(name="ada")


@pytest.fixture
def room(user: User) -> Session:
    return create_session(user=user, title="First")


@pytest.fixture
def api(runner: asyncio.Runner, user: User) -> Api:
    return Api(runner, token_headers(user))


@pytest.fixture
def nobody(runner: asyncio.Runner, transactional_db: None) -> Api:
    return Api(runner, {})


@pytest.fixture
def other(runner: asyncio.Runner, transactional_db: None) -> Api:
    return Api(runner, token_headers(create_user(name="bob")))


@pytest.fixture
def analyst(runner: asyncio.Runner, transactional_db: None) -> Api:
    return Api(runner, token_headers(create_user(name="eve", role=User.Role.ANALYST)))


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept runs without a built engine: these tests end runs by writing their rows."""
    from runs import services
    from runs.engines import Choice

    choice = Choice(backend="quickjs", isolation="isolated", reason="a test", engine=None, controls=lambda limits: {})
    monkeypatch.setattr(services, "choose_engine", lambda config, tool: choice)
