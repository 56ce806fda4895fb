"""The child of the "process" host: makes one slot, then runs one fresh VM after another, as told over its pipes.

Jobs and answers come in on stdin and are read by the thread that runs the scripts, stops on a pipe of their own; all
else goes out on what was stdout. When either pipe in ends, so does the child.
"""

from __future__ import annotations

import gc
import os
import select
import sys
import threading
from pathlib import Path
from typing import IO

from sandboxes.quickjs import cache, frames
from sandboxes.quickjs.answers import Answer
from sandboxes.quickjs.order import WARM_UP, Message, Order
from sandboxes.quickjs.script import Script
from sandboxes.quickjs.threads import STACK_BYTES
from sandboxes.quickjs.vm import Slot


class PipedAnswers:
    """Reads answers from the pipe itself, while the script waits; a stop comes in through an event descriptor."""

    def __init__(self, *, stream: IO[bytes]) -> None:
        self.run = 0
        self._stream = stream
        self._woken = os.eventfd(0, os.EFD_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(stream.fileno(), select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)

    def wait(self) -> Answer | None:
        while True:
            ready = {descriptor for descriptor, _ in self._poll.poll()}
            if self._woken in ready:
                os.eventfd_read(self._woken)
                return None
            kind, run, payload = frames.must_read(self._stream, most=frames.MAX_TO_CHILD)
            if kind == frames.SETTLE and run == self.run:
                return frames.read_settle(payload)

    def wake(self) -> None:
        os.eventfd_write(self._woken, 1)


class Kid:
    def __init__(self, *, slot: Slot, stream: IO[bytes], out: IO[bytes]) -> None:
        self._slot = slot
        self._stream = stream
        self._out = out
        self._answers = PipedAnswers(stream=stream)
        self._writing = threading.Lock()
        self._stopping = threading.Lock()
        self._stopped_run = 0
        self._run_number = 0
        self._script: Script | None = None

    def warm_up(self) -> None:
        self._make(0, WARM_UP).warm_up()

    def work(self) -> None:
        """Run the scripts, one after another, in this thread."""
        try:
            while True:
                kind, run, payload = frames.must_read(self._stream, most=frames.MAX_TO_CHILD)
                if kind == frames.JOB:
                    self._run(run, frames.read_order(payload))
        finally:
            os._exit(0)  # the pipe has ended, or something is badly wrong: the parent starts another child

    def listen(self, stops: IO[bytes]) -> None:
        """Take stops until the pipe ends."""
        while (frame := frames.read(stops, most=frames.MAX_TO_CHILD)) is not None:
            with self._stopping:
                self._stopped_run = frame[1]
                script = self._script if self._run_number == frame[1] else None
            if script is not None:
                script.stop("cancelled")

    def send(self, kind: int, run: int, payload: bytes = b"") -> None:
        self._write(frames.pack(kind, run, payload))

    def _run(self, run: int, order: Order) -> None:
        self._answers.run = run
        script = self._make(run, order)
        with self._stopping:
            self._run_number, self._script = run, script
            is_stopped = self._stopped_run == run  # the stop overtook its job
        if is_stopped:
            script.stop("cancelled")
        end = script.run()
        with self._stopping:
            self._script = None
        self.send(frames.ENDED, run, frames.pack_end(end))
        script.clear()

    def _make(self, run: int, order: Order) -> Script:
        def deliver(batch: list[Message]) -> None:
            self._write(b"".join(frames.pack(op, run, payload) for op, payload in batch))

        return Script(slot=self._slot, order=order, answers=self._answers, deliver=deliver)

    def _write(self, data: bytes) -> None:
        with self._writing:
            rest = memoryview(data)
            while rest:
                rest = rest[self._out.write(rest) :]


def main(compiled: str, sha256: str, stops: str) -> None:
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a stray print must not reach the wire
    stream = os.fdopen(os.dup(0), "rb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        cache.check(cache.Compiled(path=Path(compiled), sha256=sha256))
        kid = Kid(slot=Slot(compiled=Path(compiled)), stream=stream, out=out)
        kid.warm_up()
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent says it
        out.write(frames.pack(frames.FAILED, 0, f"{type(error).__name__}: {error}".encode()[:4000]))
        os._exit(1)
    gc.freeze()
    kid.send(frames.READY, 0)
    threading.stack_size(STACK_BYTES)
    threading.Thread(target=kid.work, name="forja-run", daemon=True).start()
    kid.listen(os.fdopen(int(stops), "rb"))
    os._exit(0)  # the pipe has ended: nobody wants what may still run


if __name__ == "__main__":
    main(*sys.argv[1:])
