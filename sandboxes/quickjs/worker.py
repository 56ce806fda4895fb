"""The "worker" host: VMs run in a thread of this process. Made for diagnosis and for engines' benchmarks."""

from __future__ import annotations

import wasmtime

from sandboxes.quickjs import cache
from sandboxes.quickjs.order import End, Inbox, Order
from sandboxes.quickjs.script import Script
from sandboxes.quickjs.threads import RUN_THREADS
from sandboxes.quickjs.vm import Slot


class ThreadRoom:
    """One slot in this process. The VM's thread is not the caller's: it needs a deep stack and is never the main one."""

    def __init__(self, *, compiled: cache.Compiled) -> None:
        cache.check(compiled)
        try:
            self._slot = Slot(compiled=compiled.path)
        except wasmtime.WasmtimeError as error:
            raise cache.DamagedCache(str(error)[:300]) from error

    def start(self, order: Order, inbox: Inbox) -> Script:
        script = Script(slot=self._slot, order=order, deliver=inbox.messages)
        RUN_THREADS.run(lambda: _run(script, inbox))
        return script

    def close(self) -> None:
        self._slot.close()


def _run(script: Script, inbox: Inbox) -> None:
    end = End(kind="trap", detail="the engine's thread failed")
    try:
        end = script.run()
    finally:
        inbox.ended(end)
