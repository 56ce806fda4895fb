"""Where a waiting script gets the answers to its nested calls from."""

from __future__ import annotations

import queue
from typing import NamedTuple, Protocol


class Answer(NamedTuple):
    call_id: int
    ok: bool
    payload: bytes
    clock_ms: int


class Answers(Protocol):
    def wait(self) -> Answer | None:
        """Wait for the next answer; None when woken."""

    def wake(self) -> None:
        """End the wait, now or the next one; from any thread."""


class QueuedAnswers:
    """Answers that threads of the same process put in."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()

    def put(self, answer: Answer) -> None:
        self._queue.put(answer)

    def wait(self) -> Answer | None:
        return self._queue.get()

    def wake(self) -> None:
        self._queue.put(None)
