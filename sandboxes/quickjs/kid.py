"""The child of the "process" host: makes one slot, then runs one fresh VM after another, as told over its pipes.

Jobs come in on stdin, everything else goes out on what was stdout. When stdin ends, so does the child.
"""

from __future__ import annotations

import gc
import os
import queue
import sys
import threading
from pathlib import Path
from typing import IO

from sandboxes.quickjs import cache, frames
from sandboxes.quickjs.order import Message, Order
from sandboxes.quickjs.script import Script
from sandboxes.quickjs.threads import STACK_BYTES
from sandboxes.quickjs.vm import Slot


class Kid:
    def __init__(self, *, slot: Slot, out: IO[bytes]) -> None:
        self._slot = slot
        self._out = out
        self._writing = threading.Lock()
        self._jobs: queue.SimpleQueue[tuple[int, Script]] = queue.SimpleQueue()
        self._current: tuple[int, Script] = (0, self._script(0, _nothing()))

    def warm_up(self) -> None:
        """Run an empty script once: what is loaded lazily is then loaded."""
        self._current[1].run()

    def serve(self, stream: IO[bytes]) -> None:
        """Read frames until the parent closes the pipe."""
        while (frame := frames.read(stream, most=frames.MAX_TO_CHILD)) is not None:
            kind, run, payload = frame
            if kind == frames.JOB:
                self._current = (run, self._script(run, frames.read_order(payload)))
                self._jobs.put(self._current)
            elif run == self._current[0]:
                self._tell(self._current[1], kind, payload)

    def work(self) -> None:
        """Run the scripts, one after another, in this thread."""
        while True:
            run, script = self._jobs.get()
            self.send(frames.ENDED, run, frames.pack_end(script.run()))

    def send(self, kind: int, run: int, payload: bytes = b"") -> None:
        self._write(frames.pack(kind, run, payload))

    @staticmethod
    def _tell(script: Script, kind: int, payload: bytes) -> None:
        if kind == frames.SETTLE:
            script.settle(**frames.read_settle(payload))
        elif kind == frames.STOP:
            script.stop("cancelled")

    def _script(self, run: int, order: Order) -> Script:
        def deliver(batch: list[Message]) -> None:
            self._write(b"".join(frames.pack(op, run, payload) for op, payload in batch))

        return Script(slot=self._slot, order=order, deliver=deliver)

    def _write(self, data: bytes) -> None:
        with self._writing:
            self._out.write(data)
            self._out.flush()


def _nothing() -> Order:
    return Order(
        code=b"",
        init=b'{"args":{},"state":{},"seed":0,"tools":[]}',
        heap_bytes=32 * 1024 * 1024,
        stack_bytes=256 * 1024,
        timeout_ms=30_000,
        clock_ms=0,
        max_calls=0,
    )


def main(compiled: str, sha256: str) -> None:
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a stray print must not reach the wire
    try:
        cache.check(cache.Compiled(path=Path(compiled), sha256=sha256))
        kid = Kid(slot=Slot(compiled=Path(compiled)), out=out)
        kid.warm_up()
    except Exception as error:
        out.write(frames.pack(frames.FAILED, 0, f"{type(error).__name__}: {error}".encode()[:4000]))
        os._exit(1)
    gc.freeze()
    threading.stack_size(STACK_BYTES)
    threading.Thread(target=kid.work, name="forja-run", daemon=True).start()
    kid.send(frames.READY, 0)
    kid.serve(sys.stdin.buffer)
    os._exit(0)  # the pipe has ended: nobody wants what may still run


if __name__ == "__main__":
    main(*sys.argv[1:])
