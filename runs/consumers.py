"""The socket of an open page: wakes with the journal, reads what the page has not shown, sends it as HTML."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.utils import translation

from runs.accounts import user_of_page
from runs.cards import Viewer
from runs.hub import hub
from runs.live import Page, Told, read_told
from runs.models import Session, User

FRAME_S = 0.25
"""Shortest time between two frames: a card's figures change at most four times a second."""
BEAT_S = 1.5
"""Longest silence: a page that hears nothing for longer than a few beats knows that its connection is lost."""
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
        language = self._language()
        # Watch before the first read: what is written in between wakes the loop below.
        async with hub.watch(self.scope["url_route"]["kwargs"]["session_id"]) as watch:
            found = await database_sync_to_async(self._viewed)()
            if isinstance(found, int):
                return found
            user, session = found
            try:
                async with asyncio.timeout(HELLO_S):
                    told = await self.told
            except TimeoutError:
                return NOT_UNDERSTOOD
            page = Page(viewer=Viewer(user=user, full=told.view == "run"), session=session, told=told)
            step = page.catch_up
            while True:
                frame = await self._read(step, language)
                if isinstance(frame, int):
                    return frame
                await self._send(frame or BEAT)
                if step == page.update:
                    await asyncio.sleep(FRAME_S)
                step = page.update
                await watch.changed(BEAT_S)

    def _language(self) -> str:
        asked = str(self.scope["url_route"]["kwargs"]["language"])
        return asked if asked in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE

    def _viewed(self) -> tuple[User, Session] | int:
        """The viewer and the session, read anew; a close code when somebody is signed out or may not see it."""
        user = user_of_page(self.scope["cookies"].get(settings.SESSION_COOKIE_NAME, ""))
        if user is None:
            return SIGNED_OUT
        session = Session.objects.visible_to(user).filter(pk=self.scope["url_route"]["kwargs"]["session_id"]).first()
        return GONE if session is None else (user, session)

    async def _read(self, step: Callable[[], str], language: str) -> str | int:
        """The next frame, with the rights there are at that moment; a close code when there are none any more."""
        return await database_sync_to_async(self._frame)(step, language)

    def _frame(self, step: Callable[[], str], language: str) -> str | int:
        found = self._viewed()
        if isinstance(found, int):
            return found
        with translation.override(language):
            return step()

    async def _send(self, text: str) -> None:
        await self.send(text_data=text)


class NoSuchPage(AsyncWebsocketConsumer):
    """Refuses sockets of unknown paths."""

    channel_layer_alias = "none"

    async def connect(self) -> None:
        await self.close()


def _read_hello(text: str | None) -> Told | None:
    if text is None or len(text) > MAX_HELLO_CHARS:
        return None
    try:
        return read_told(json.loads(text))
    except (ValueError, RecursionError):
        return None
