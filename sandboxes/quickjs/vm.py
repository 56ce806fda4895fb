"""One JavaScript VM: a WebAssembly instance made for one run, and the slot that makes them.

wasmtime's public calls cost about twice as much per run as the bindings underneath, so the bindings are used
where the pinned version has them; without them the public way is taken.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

from sandboxes.base import MIB
from sandboxes.errors import MemoryLimit

try:
    from wasmtime._bindings import _wasmtime_func_call as _raw_call
    from wasmtime._bindings import wasmtime_instance_export_get as _raw_export
except ImportError:  # another wasmtime: slower, and right
    _raw_call = _raw_export = None

# Room above the script's own heap: the module's stack and data, and one tool result on its way in.
MEMORY_MARGIN_BYTES = 24 * MIB
# The engine's stack is native; a level of it takes about four times what the guest counts.
MAX_WASM_STACK_BYTES = 2 * MIB

_OFF = (
    "wasm_threads wasm_memory64 wasm_multi_memory wasm_relaxed_simd wasm_simd wasm_gc wasm_component_model"
    " wasm_tail_call wasm_function_references wasm_exceptions wasm_stack_switching wasm_custom_page_sizes"
    " wasm_wide_arithmetic"
).split()


EXPORTS = frozenset(
    "memory fj_alloc fj_free fj_ptr fj_len fj_limits fj_clock fj_run fj_settle fj_pump fj_finish fj_memory".split()
)
_VOID = frozenset(("_initialize", "fj_free", "fj_limits", "fj_clock"))

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

    The engine belongs to the slot alone, so that moving its epoch stops exactly the run in it.
    """

    def __init__(self, *, compiled: Path | None = None, module: bytes | None = None) -> None:
        self.engine = wasmtime.Engine(make_config())
        if compiled is not None:
            self._module = wasmtime.Module.deserialize_file(self.engine, str(compiled))
        else:
            self._module = wasmtime.Module(self.engine, module or b"")
        linker = wasmtime.Linker(self.engine)
        i32 = wasmtime.ValType.i32
        linker.define_func("forja", "send", wasmtime.FuncType([i32(), i32(), i32()], [i32()]), self._send)
        self._linked = linker.instantiate_pre(self._module)
        self._vm: VM | None = None
        self._lock = threading.Lock()
        self._running: object | None = None

    def serialized(self) -> bytes:
        return bytes(self._module.serialize())

    def open(self, *, heap_bytes: int, send: Send) -> VM:
        """Make a fresh VM; its epoch deadline stands before anyone can ask for a stop."""
        self._vm = VM(engine=self.engine, linked=self._linked, heap_bytes=heap_bytes, send=send)
        return self._vm

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
        self._vm = None
        self.engine.close()

    def _send(self, op: int, pointer: int, length: int) -> int:
        """The guest's one way out. Nothing may escape: wasmtime keeps exceptions in one place for all threads."""
        try:
            vm = self._vm
            return REFUSED if vm is None else vm.sent(op, pointer & 0xFFFFFFFF, length & 0xFFFFFFFF)
        except BaseException:
            return REFUSED


class VM:
    """A fresh instance. Every call may raise wasmtime.Trap or WasmtimeError; after that it is only good for closing."""

    def __init__(self, *, engine: wasmtime.Engine, linked: Any, heap_bytes: int, send: Send) -> None:
        self._send = send
        self._store = wasmtime.Store(engine)
        self._store.set_limits(
            memory_size=heap_bytes + MEMORY_MARGIN_BYTES, instances=1, memories=1, tables=1, table_elements=10_000
        )
        self._store.set_epoch_deadline(1)
        self._instance = linked.instantiate(self._store)
        self._functions: dict[str, Any] = {}
        self._exports = self._instance.exports(self._store) if _raw_call is None else None
        self._memory = self._find_memory()

    def call(self, name: str, *arguments: int | float) -> int:
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._find(name)
        if self._exports is not None:
            return function(self._store, *arguments) or 0
        return self._call_raw(function, name, arguments)

    def put(self, data: bytes) -> int:
        """Copy bytes into the guest and give their address; MemoryLimit when there is no room."""
        pointer = self.call("fj_alloc", len(data) or 1) & 0xFFFFFFFF
        if not pointer:
            raise MemoryLimit("the script has no memory left to take in the data", limit="memoryBytes")
        if self._exports is not None:
            self._memory.write(self._store, data, pointer)
            return pointer
        self._check(pointer, len(data))
        ctypes.memmove(self._base() + pointer, data, len(data))
        return pointer

    def read(self, pointer: int, length: int) -> bytes:
        if self._exports is not None:
            return bytes(self._memory.read(self._store, pointer, pointer + length))
        self._check(pointer, length)
        return ctypes.string_at(self._base() + pointer, length)

    def result(self, *, most: int) -> bytes | None:
        """Give the guest's last text; None when it is longer than `most` bytes."""
        length = self.call("fj_len") & 0xFFFFFFFF
        return None if length > most else self.read(self.call("fj_ptr") & 0xFFFFFFFF, length)

    def sent(self, op: int, pointer: int, length: int) -> int:
        if length > self.memory_bytes():
            return REFUSED
        return self._send(op, self.read(pointer, length))

    def memory_bytes(self) -> int:
        """Size of the guest's linear memory; it never shrinks, so at the end it is the peak."""
        return self._memory.data_len(self._store)

    def stack_pointer(self) -> int:
        return int(self._instance.exports(self._store)["__stack_pointer"].value(self._store))

    def close(self) -> None:
        self._functions.clear()
        self._store.close()

    # ── The bindings underneath ────────────────────────────────────────────────────────────────

    def _find_memory(self) -> Any:
        if self._exports is not None:
            return self._exports["memory"]
        return wasmtime.Memory._from_raw(self._export("memory").of.memory)

    def _find(self, name: str) -> Any:
        return self._exports[name] if self._exports is not None else self._export(name)

    def _export(self, name: str) -> Any:
        item, encoded = ffi.wasmtime_extern_t(), name.encode()
        text = (ctypes.c_char * len(encoded)).from_buffer_copy(encoded)
        found = _raw_export(
            self._store._context(), ctypes.byref(self._instance._instance), text, len(encoded), ctypes.byref(item)
        )
        if not found:
            raise KeyError(name)
        return item

    def _call_raw(self, function: Any, name: str, arguments: tuple[int | float, ...]) -> int:
        count = len(arguments)
        values = (ffi.wasmtime_val_t * count)() if count else None
        for index, argument in enumerate(arguments):
            value = values[index]  # type: ignore[index]
            if type(argument) is float:
                value.kind, value.of.f64 = 3, argument
            else:
                value.kind, value.of.i32 = 0, argument
        results, wanted = (ffi.wasmtime_val_t * 1)(), 0 if name in _VOID else 1
        trap = ctypes.POINTER(ffi.wasm_trap_t)()
        error = _raw_call(
            self._store._context(), ctypes.byref(function.of.func), values, count, results, wanted, ctypes.byref(trap)
        )
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)
        if trap:
            raise wasmtime.Trap._from_ptr(trap)
        return results[0].of.i32 if wanted else 0

    def _base(self) -> int:
        return ctypes.cast(self._memory.data_ptr(self._store), ctypes.c_void_p).value or 0

    def _check(self, pointer: int, length: int) -> None:
        if pointer + length > self.memory_bytes():
            raise IndexError("the guest named bytes outside its memory")
