"""Tells a request that the server stops, so that it answers what it has instead of being cut off."""

from __future__ import annotations

from django.http import HttpRequest

from runs.hub import Watch

SCOPE_KEY = "forja.stopping"


class Stopping:
    """One request's view of the server's end: `now` once it has begun, and what it waits on is woken."""

    def __init__(self) -> None:
        self.now = False
        self._watches: list[Watch] = []

    def wakes(self, watch: Watch) -> None:
        self._watches.append(watch)

    def begin(self) -> None:
        self.now = True
        for watch in self._watches:
            watch.wake(run_id="", ended=False)


def stopping_of(request: HttpRequest) -> Stopping:
    found: Stopping = request.scope[SCOPE_KEY]  # type: ignore[attr-defined]
    return found
