"""One JavaScript VM: a WebAssembly instance made for one run, and the slot that makes them."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import wasmtime

from sandboxes.base import MIB
from sandboxes.errors import MemoryLimit
from sandboxes.quickjs.guest import define_send, guest_of
from sandboxes.quickjs.pages import Ranges, populate, written_ranges

# Room above the script's own heap: the module's stack and data, and one tool result on its way in.
MEMORY_MARGIN_BYTES = 24 * MIB
# The engine's stack is native; a level of it takes about four times what the guest counts.
MAX_WASM_STACK_BYTES = 2 * MIB

# Proposals this guest does not use: less of the runtime can be reached.
_OFF = (
    "wasm_threads",
    "wasm_memory64",
    "wasm_multi_memory",
    "wasm_relaxed_simd",
    "wasm_simd",
    "wasm_gc",
    "wasm_component_model",
    "wasm_tail_call",
    "wasm_function_references",
    "wasm_exceptions",
    "wasm_stack_switching",
    "wasm_custom_page_sizes",
    "wasm_wide_arithmetic",
)

# The place of exchange: the last result's address and length, then the inbox for short texts (shim.c).
_RESULT = struct.Struct("<II")
_INBOX_BYTES = 8192

Send = Callable[[int, bytes], int]
# The guest's own refusal code: the payload was not taken.
REFUSED = -1


def make_config() -> wasmtime.Config:
    """Give the one configuration there is; a wrong one can abort the process, so nothing here is a setting."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    config.cranelift_opt_level = "speed"
    config.memory_init_cow = True
    config.max_wasm_stack = MAX_WASM_STACK_BYTES
    for name in _OFF:
        setattr(config, name, False)
    return config


class Slot:
    """An engine with the compiled module: makes fresh VMs, one at a time.

    The engine belongs to the slot alone, so that moving its epoch stops exactly the run in it. The next VM is made
    ahead, while nobody waits.
    """

    def __init__(self, *, compiled: Path | None = None, module: bytes | None = None) -> None:
        self.engine = wasmtime.Engine(make_config())
        if compiled is not None:
            self._module = wasmtime.Module.deserialize_file(self.engine, str(compiled))
        else:
            self._module = wasmtime.Module(self.engine, module or b"")
        linker = wasmtime.Linker(self.engine)
        self._callback = define_send(linker, self._send)
        self._linked = linker.instantiate_pre(self._module)
        self._exchange_at = 0
        self._hot: Ranges = []
        self._using = threading.Lock()
        self._next: VM | None = None
        self._vm: VM | None = None
        self._is_closed = False
        self._lock = threading.Lock()
        self._running: object | None = None

    def serialized(self) -> bytes:
        return bytes(self._module.serialize())

    def open(self, *, heap_bytes: int, send: Send) -> VM:
        """Give a fresh VM; its epoch deadline stands before anyone can ask for a stop. Waits for the last to go."""
        self._using.acquire()
        try:
            vm, self._next = self._next or self._make(), None
            vm.begin(heap_bytes=heap_bytes, send=send)
        except BaseException:
            self._using.release()
            raise
        self._vm = vm
        return vm

    def retire(self, vm: VM) -> None:
        """Throw away a VM that was opened, and make the next one while nobody waits."""
        try:
            self._vm = None
            vm.close()
            if not self._is_closed:
                self._next = self._make()
        finally:
            self._using.release()

    def learn(self, vm: VM) -> None:
        """Take from a short script that has run in this slot what will be the same in every VM."""
        self._exchange_at = vm.find_exchange()
        self._hot = vm.written()

    def publish(self, run: object | None) -> None:
        """Say which run a stop may hit from now on; after `publish(None)` no late stop can hit the next one."""
        with self._lock:
            self._running = run

    def interrupt(self, run: object) -> bool:
        """Trap the guest if this run is in it; false when the run is over."""
        with self._lock:
            if self._running is not run:
                return False
            self.engine.increment_epoch()
            return True

    def close(self) -> None:
        self._is_closed = True
        with self._using:
            if self._next is not None:
                self._next.close()
            self._next = None
            self.engine.close()

    def _make(self) -> VM:
        vm = VM(engine=self.engine, linked=self._linked, exchange_at=self._exchange_at)
        vm.populate(self._hot)
        return vm

    def _send(self, op: int, pointer: int, length: int) -> int:
        """The guest's one way out. Nothing may escape: wasmtime keeps exceptions in one place for all threads."""
        try:
            vm = self._vm
            return REFUSED if vm is None else vm.sent(op, pointer & 0xFFFFFFFF, length & 0xFFFFFFFF)
        except BaseException:  # noqa: BLE001 - whatever it is, the guest gets a refusal
            return REFUSED


class VM:
    """A fresh instance. Every call may raise wasmtime.Trap or WasmtimeError; after that it is only good for closing."""

    def __init__(self, *, engine: wasmtime.Engine, linked: Any, exchange_at: int = 0) -> None:
        self._send: Send | None = None
        self._store = wasmtime.Store(engine)
        self._limit_memory(MEMORY_MARGIN_BYTES)
        self._store.set_epoch_deadline(1)
        self._guest = guest_of(linked.instantiate(self._store), self._store)
        self._exchange_at = exchange_at
        self.call = self._guest.call
        self.memory_bytes = self._guest.memory_bytes
        self.read = self._guest.read

    def begin(self, *, heap_bytes: int, send: Send) -> None:
        self._limit_memory(heap_bytes + MEMORY_MARGIN_BYTES)
        self._store.set_epoch_deadline(1)  # again: the epoch may have moved since this VM was made
        self._send = send

    def put(self, data: bytes) -> int:
        """Copy bytes into the guest and give their address; MemoryLimit when there is no room.

        Short ones go where the last short ones were.
        """
        if len(data) <= _INBOX_BYTES:
            pointer = self.find_exchange() + _RESULT.size
            self._guest.write(pointer, data)
            return pointer
        pointer = self.call("fj_alloc", len(data) or 1) & 0xFFFFFFFF
        if not pointer:
            raise MemoryLimit("the script has no memory left to take in the data", limit="memoryBytes")
        self._guest.write(pointer, data)
        return pointer

    def result(self, *, most: int) -> bytes | None:
        """Give the guest's last text; None when it is longer than `most` bytes."""
        pointer, length = _RESULT.unpack(self.read(self.find_exchange(), _RESULT.size))
        return None if length > most else self.read(pointer, length)

    def written(self) -> Ranges:
        return written_ranges(address=self._guest.base(), length=self.memory_bytes())

    def populate(self, ranges: Ranges) -> None:
        if ranges:
            populate(address=self._guest.base(), ranges=ranges)

    def find_exchange(self) -> int:
        self._exchange_at = self._exchange_at or self.call("fj_exchange") & 0xFFFFFFFF
        return self._exchange_at

    def sent(self, op: int, pointer: int, length: int) -> int:
        return REFUSED if self._send is None else self._send(op, self.read(pointer, length))

    def image(self) -> bytes:
        return self.read(0, self.memory_bytes())

    def stack_pointer(self) -> int:
        return self._guest.stack_pointer()

    def close(self) -> None:
        self._store.close()

    def _limit_memory(self, memory_bytes: int) -> None:
        self._store.set_limits(memory_size=memory_bytes, instances=1, memories=1, tables=1, table_elements=10_000)
