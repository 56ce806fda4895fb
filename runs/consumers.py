"""The socket of an open page: wakes with the journal, reads what the page has not shown, sends it as HTML."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from typing import Any

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.utils import translation

from runs.cards import Viewer
from runs.hub import hub
from runs.live import Page, Told, read_told
from runs.models import Session, User

FRAME_S = 0.25
"""Shortest time between two frames: a card's figures change at most four times a second."""
BEAT_S = 1.5
"""Longest silence: a page that hears nothing for longer than a few beats knows that its connection is lost."""
CHECK_S = 10.0
"""How often the viewer's rights are read again."""
HELLO_S = 15.0
MAX_HELLO_CHARS = 20_000
BEAT = " "

SIGNED_OUT, GONE, NOT_UNDERSTOOD = 4401, 4404, 4400

log = logging.getLogger(__name__)


class PageConsumer(AsyncWebsocketConsumer):
    """One page. Close codes: 4401 signed out, 4404 the session is gone, 4400 the first message was not understood."""

    # No channel of its own: the hub holds the process's one subscription, and pages outlive a lost broker.
    channel_layer_alias = "none"
    task: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        self.told: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        await self.accept()
        self.task = asyncio.create_task(self._run())

    async def disconnect(self, code: int) -> None:
        if self.task is not None:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take the page's one message: which cards it holds."""
        if self.told.done():
            return
        told = _read_hello(text_data)
        if told is None:
            await self.close(code=NOT_UNDERSTOOD)
        else:
            self.told.set_result(told)

    # ── The page's life ─────────────────────────────────────────────────────────────────────────

    async def _run(self) -> None:
        try:
            code = await self._follow()
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("a page's socket failed")
            code = 1011
        with contextlib.suppress(Exception):
            await self.close(code=code)

    async def _follow(self) -> int:
        """Send what changes until the page goes away; gives the close code."""
        session_id, language = self._address()
        # Watch before the first read: what is written in between wakes the loop below.
        async with hub.watch(session_id) as watch:
            session = await self._session(session_id)
            if session is None:
                return GONE if self.user is not None else SIGNED_OUT
            try:
                async with asyncio.timeout(HELLO_S):
                    told = await self.told
            except TimeoutError:
                return NOT_UNDERSTOOD
            assert self.user is not None
            viewer = Viewer(user=self.user, full=told.view == "run")
            page = Page(viewer=viewer, session=session, told=told)
            await self._send(await _read(page.catch_up, language) or BEAT)
            checked = time.monotonic()
            while True:
                await watch.changed(BEAT_S)
                if time.monotonic() - checked > CHECK_S:
                    if await self._session(session_id) is None:
                        return GONE if self.user is not None else SIGNED_OUT
                    checked = time.monotonic()
                await self._send(await _read(page.update, language) or BEAT)
                await asyncio.sleep(FRAME_S)

    def _address(self) -> tuple[str, str]:
        arguments = self.scope["url_route"]["kwargs"]
        known = arguments["language"] in dict(settings.LANGUAGES)
        return arguments["session_id"], arguments["language"] if known else settings.LANGUAGE_CODE

    async def _session(self, session_id: str) -> Session | None:
        """The session, if its viewer is still signed in and may still see it; remembers the viewer."""
        user: Any = await get_user(self.scope)
        self.user: User | None = user if isinstance(user, User) and user.is_active else None
        if self.user is None:
            return None
        return await database_sync_to_async(_visible)(self.user, session_id)

    async def _send(self, text: str) -> None:
        await self.send(text_data=text)


class NoSuchPage(AsyncWebsocketConsumer):
    """Refuses sockets of unknown paths."""

    channel_layer_alias = "none"

    async def connect(self) -> None:
        await self.close()


def _visible(user: User, session_id: str) -> Session | None:
    return Session.objects.visible_to(user).filter(pk=session_id).first()


def _read_hello(text: str | None) -> Told | None:
    if text is None or len(text) > MAX_HELLO_CHARS:
        return None
    try:
        return read_told(json.loads(text))
    except (ValueError, RecursionError):
        return None


async def _read(step: Any, language: str) -> str:
    return await database_sync_to_async(_in_language)(step, language)


def _in_language(step: Any, language: str) -> str:
    with translation.override(language):
        return str(step())
