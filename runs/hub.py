"""One subscription per web process, fanned out to whoever waits for a run or a session."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import weakref
from collections import defaultdict
from types import TracebackType

import redis.asyncio
from django.conf import settings

from runs.pokes import CHANGES

RETRY_S = 0.5

log = logging.getLogger(__name__)


class Watch:
    """Wakes when something it watches changed. Enter it before the first read, so that nothing falls between."""

    def __init__(self, hub: Hub, keys: tuple[str, ...]) -> None:
        self._hub, self._keys = hub, keys
        self._event = asyncio.Event()
        self.ended = False
        self.changed_runs: set[str] = set()
        self.ended_runs: set[str] = set()

    async def __aenter__(self) -> Watch:
        await self._hub.add(self, self._keys)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hub.discard(self, self._keys)

    def wake(self, *, run_id: str, ended: bool) -> None:
        self.changed_runs.add(run_id)
        self.ended = self.ended or ended
        if ended:
            self.ended_runs.add(run_id)
        self._event.set()

    async def changed(self, timeout_s: float) -> bool:
        """Wait for a change; False when none came within `timeout_s` seconds. Changes in between count once."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
        happened = self._event.is_set()
        self._event.clear()
        return happened

    def take_changed_runs(self) -> set[str]:
        """The ids of the runs poked since the last call."""
        runs, self.changed_runs = self.changed_runs, set()
        return runs


class Hub:
    """Receives every poke of one event loop and wakes its watches."""

    def __init__(self) -> None:
        self._watches: defaultdict[str, set[Watch]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def add(self, watch: Watch, keys: tuple[str, ...]) -> None:
        for key in keys:
            self._watches[key].add(watch)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._receive())
        if not self._ready.is_set():
            # Without a broker the watch still works: its owner reads again at each time-out.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    await self._ready.wait()

    def discard(self, watch: Watch, keys: tuple[str, ...]) -> None:
        for key in keys:
            self._watches[key].discard(watch)
            if not self._watches[key]:
                del self._watches[key]

    async def _receive(self) -> None:
        while True:
            try:
                await self._listen()
            except redis.RedisError:
                self._ready.clear()
                log.warning("the broker does not answer; pages and waits read on a timer meanwhile")
                await asyncio.sleep(RETRY_S)

    async def _listen(self) -> None:
        # redis-py reads with a 5 s time-out by default, which would end an idle subscription.
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_timeout=None)
        async with client, client.pubsub() as subscription:
            await subscription.subscribe(CHANGES)
            async for message in subscription.listen():
                if message["type"] == "subscribe":
                    self._ready.set()
                    self._wake_all()
                else:
                    self._dispatch(json.loads(message["data"]))

    def _dispatch(self, message: dict[str, object]) -> None:
        if message.get("rights"):
            self._wake_all()
            return
        run_id, ended = str(message["run"]), bool(message["ended"])
        for key in (run_id, str(message["session"])):
            for watch in tuple(self._watches.get(key, ())):
                watch.wake(run_id=run_id, ended=ended)

    def _wake_all(self) -> None:
        for watches in tuple(self._watches.values()):
            for watch in tuple(watches):
                watch.wake(run_id="", ended=True)


_hubs: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = weakref.WeakKeyDictionary()


class _HubOfLoop:
    def watch(self, *keys: str) -> Watch:
        """Watch runs or sessions by id."""
        loop = asyncio.get_running_loop()
        if loop not in _hubs:
            _hubs[loop] = Hub()
        return Watch(_hubs[loop], keys)


hub = _HubOfLoop()
