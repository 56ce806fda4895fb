"""The socket, through the whole ASGI application."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import Client

from forja_site.asgi import application
from forja_site.origins import is_allowed
from runs import consumers, people
from runs.accounts import create_user, end_page_sessions
from runs.models import Session
from runs.sessions import create_session
from tests.runs.page.reading import Markup, printed
from tests.runs.page.screen import Screen
from tests.runs.page.scribe import Scribe

pytestmark = pytest.mark.django_db(transaction=True)
SOON_S = 10


class Visit:
    """A browser's socket: connects, says what it holds, reads frames."""

    def __init__(self, session, user, *, language="en", origin="http://testserver"):
        self.session, self.user, self.language, self.origin = session, user, language, origin

    async def __aenter__(self):
        cookie = await database_sync_to_async(self._cookie)() if self.user is not None else ""
        headers = [(b"host", b"testserver"), (b"cookie", cookie.encode())]
        headers += [(b"origin", self.origin.encode())] if self.origin else []
        path = f"/ws/{self.language}/sessions/{self.session}/"
        self.socket = WebsocketCommunicator(application, path, headers=headers)
        self.accepted, self.code = await self.socket.connect(timeout=SOON_S)
        return self

    async def __aexit__(self, *error):
        await self.socket.disconnect()

    def _cookie(self):
        client = Client()
        client.force_login(self.user)
        return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"

    async def says(self, message):
        await self.socket.send_to(text_data=message if isinstance(message, str) else json.dumps(message))

    async def opens(self, *scribes, view="session"):
        await self.says({"view": view, "cards": {scribe.run.id: scribe.run.last_seq for scribe in scribes}})
        return await self.reads()

    async def reads(self):
        return await self.socket.receive_from(timeout=SOON_S)

    async def reads_until(self, wanted):
        """Frames up to and with the one that holds `wanted`, joined."""
        deadline = time.monotonic() + SOON_S
        frames = []
        while time.monotonic() < deadline:
            frames.append(await self.reads())
            if wanted in frames[-1]:
                return "".join(frames)
        raise AssertionError(f"{wanted!r} never came; {frames[-1]!r}")

    async def closes(self):
        """The close code, once the server has closed."""
        deadline = time.monotonic() + SOON_S
        while time.monotonic() < deadline:
            message = await self.socket.receive_output(timeout=SOON_S)
            if message["type"] == "websocket.close":
                return message["code"]
        raise AssertionError("it was not closed")


@pytest.fixture
def room(transactional_db):
    owner = create_user(name="owner")
    return create_session(user=owner, title="Room")


@pytest.fixture
def quick(monkeypatch):
    """Beats come quickly."""
    monkeypatch.setattr(consumers, "BEAT_S", 0.05)
    monkeypatch.setattr(consumers, "FRAME_S", 0.01)


def page_of(scribe):
    """The parts of a session's page that frames go to."""
    return (
        f'<span id="counts"></span><small id="rail-{scribe.run.session_id}"></small>'
        f'<div id="cards">{scribe.html()}</div>'
    )


def later(work, *arguments):
    return database_sync_to_async(work, thread_sensitive=False)(*arguments)


async def test_a_run_written_by_somebody_else_is_followed_without_gap_or_double(room):
    scribe = await later(lambda: Scribe(room).starts())
    screen = Screen(await later(lambda: page_of(scribe)))
    async with Visit(room.pk, room.owner) as visit:
        await visit.says({"view": "session", "cards": {scribe.run.id: scribe.run.last_seq}})

        def works():
            for number in range(200):
                scribe.prints(f"\nline {number}")
                if number % 10 == 0:
                    scribe.calls("read_file", path=f"{number}.txt")
                    scribe.settles(number // 10 + 1)
            scribe.reports("nearly", 9, 10)

        work = asyncio.create_task(later(works))
        while "nearly" not in screen.text_of(f"run-{scribe.run.id}-progress"):
            screen.apply(await visit.reads())
        await work
    assert screen.printed == "".join(f"\nline {number}" for number in range(200))
    assert [call.attributes["data-status"] for call in screen.calls] == ["succeeded"] * 20
    assert screen.text_of(f"run-{scribe.run.id}-count") == "20 done"


async def test_what_happens_between_the_page_and_its_socket_is_not_missed(room):
    scribe = await later(lambda: Scribe(room).starts())
    async with Visit(room.pk, room.owner) as visit:
        held = {scribe.run.id: scribe.run.last_seq}
        await later(lambda: scribe.prints("between\n"))
        await later(Scribe, room)
        await visit.says({"view": "session", "cards": held})
        first = await visit.reads()
    assert printed(first) == "between\n"
    assert len(Markup(first).all("article")) == 1


async def test_a_second_visit_sees_the_end_once(room):
    scribe = await later(lambda: Scribe(room).starts())
    async with Visit(room.pk, room.owner) as visit:
        await visit.opens(scribe)
    held = scribe.run.last_seq
    await later(lambda: scribe.ends(value_json="42"))
    async with Visit(room.pk, room.owner) as visit:
        await visit.says({"view": "session", "cards": {scribe.run.id: held}})
        first = await visit.reads()
        assert "Succeeded" in first
        assert await visit.reads() == consumers.BEAT


async def test_a_change_reaches_the_page_soon(room):
    scribe = await later(lambda: Scribe(room).starts())
    async with Visit(room.pk, room.owner) as visit:
        await visit.opens(scribe)
        await asyncio.sleep(consumers.FRAME_S)
        started = time.monotonic()
        await later(lambda: scribe.prints("now\n"))
        await visit.reads_until("now")
        assert time.monotonic() - started < consumers.BEAT_S


async def test_frames_come_at_most_four_times_a_second(room):
    scribe = await later(lambda: Scribe(room).starts())
    async with Visit(room.pk, room.owner) as visit:
        await visit.opens(scribe)
        started = time.monotonic()
        frames = 0

        def works():
            for number in range(150):
                scribe.prints(f"{number}\n")
            scribe.reports("done", 1, 1)

        work = asyncio.create_task(later(works))
        while "done" not in await visit.reads():
            frames += 1
        await work
        assert frames <= (time.monotonic() - started) / consumers.FRAME_S + 2


async def test_without_a_broker_the_page_still_follows_by_reading_now_and_then(room, settings):
    settings.REDIS_URL = "unix:///nowhere/broker.sock"
    scribe = await later(lambda: Scribe(room).starts())
    async with Visit(room.pk, room.owner) as visit:
        await visit.opens(scribe)
        await later(lambda: scribe.prints("alone\n"))
        assert "alone" in await visit.reads_until("alone")


async def test_it_speaks_the_pages_language(room):
    scribe = await later(Scribe, room)
    async with Visit(room.pk, room.owner, language="es") as visit:
        await visit.opens(scribe)
        await later(scribe.starts)
        assert "En marcha" in await visit.reads_until("run-")


async def test_another_persons_session_is_gone(room):
    stranger = await later(lambda: create_user(name="stranger"))
    async with Visit(room.pk, stranger) as visit:
        assert await visit.closes() == consumers.GONE


async def test_nobody_is_signed_out(room):
    async with Visit(room.pk, None) as visit:
        assert await visit.closes() == consumers.SIGNED_OUT


async def test_an_analyst_may_watch_but_is_offered_no_stop(room):
    analyst = await later(lambda: create_user(name="analyst", role="analyst"))
    scribe = await later(lambda: Scribe(room).starts())
    async with Visit(room.pk, analyst) as visit:
        html = await visit.opens(scribe)
    assert "Running" in html
    assert "data-stop" not in html


async def test_signing_out_elsewhere_closes_the_page(room, quick):
    async with Visit(room.pk, room.owner) as visit:
        await visit.opens()
        await later(end_page_sessions, room.owner)
        assert await visit.closes() == consumers.SIGNED_OUT


async def test_a_cookie_that_was_signed_out_serves_nobody_who_copied_it(room):
    copied = Visit(room.pk, room.owner)
    cookie = await database_sync_to_async(copied._cookie)()
    copied._cookie = lambda: cookie
    async with copied as visit:
        await visit.opens()
        browser = Client()
        browser.cookies.load(cookie)
        assert (await later(lambda: browser.post("/sign-out/"))).status_code == 302
        assert await visit.closes() == consumers.SIGNED_OUT
    async with copied as visit:
        assert await visit.closes() == consumers.SIGNED_OUT


async def test_a_disabled_user_sees_nothing_more(room):
    await later(lambda: create_user(name="boss", role="admin"))
    async with Visit(room.pk, room.owner) as visit:
        await visit.opens()
        await later(lambda: people.change(room.owner, active=False))
        await later(lambda: Scribe(room).starts())
        assert await visit.closes() == consumers.SIGNED_OUT


async def test_one_who_no_longer_reads_everything_sees_nothing_more(room):
    analyst = await later(lambda: create_user(name="analyst", role="analyst"))
    async with Visit(room.pk, analyst) as visit:
        await visit.opens()
        await later(lambda: people.change(analyst, role="user"))
        await later(lambda: Scribe(room).starts())
        assert await visit.closes() == consumers.GONE


async def test_a_deleted_session_closes_the_page(room, quick):
    async with Visit(room.pk, room.owner) as visit:
        await visit.opens()
        await later(lambda: Session.objects.filter(pk=room.pk).delete())
        assert await visit.closes() == consumers.GONE


@pytest.mark.parametrize("message", ["{", "[" * 19_000, '{"view": "x"}', "x" * 30_000])
async def test_a_first_message_out_of_shape_closes_the_page(room, message):
    async with Visit(room.pk, room.owner) as visit:
        await visit.says(message)
        assert await visit.closes() == consumers.NOT_UNDERSTOOD


@pytest.mark.parametrize("origin", ["http://evil.example", "http://testserver:9999", "null", "", "file://"])
async def test_a_page_from_elsewhere_gets_no_socket(room, origin):
    async with Visit(room.pk, room.owner, origin=origin) as visit:
        assert not visit.accepted


async def test_an_unknown_address_gets_no_socket(room):
    socket = WebsocketCommunicator(
        application, "/ws/nowhere/", headers=[(b"host", b"testserver"), (b"origin", b"http://testserver")]
    )
    accepted, _code = await socket.connect()
    assert not accepted


def test_an_origin_must_be_this_very_host_and_port_or_trusted(settings):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "forja.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://front.example"]
    assert is_allowed(origin="http://127.0.0.1:8000", host="127.0.0.1:8000")
    assert is_allowed(origin="https://forja.example", host="forja.example")
    assert is_allowed(origin="https://front.example", host="127.0.0.1:8000")
    assert not is_allowed(origin="http://127.0.0.1:8001", host="127.0.0.1:8000")
    assert not is_allowed(origin="http://rebound.example", host="rebound.example")
