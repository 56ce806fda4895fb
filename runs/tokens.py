"""How a worker takes a token off the queue."""

from __future__ import annotations

from celery.worker.request import Request


class TokenRequest(Request):
    """A token is consumed without acknowledgement, yet Celery would send one: a round trip and a new client per run."""

    def acknowledge(self) -> None:
        self.acknowledged = True
