"""The way into an instance: calling its functions and copying bytes in and out.

wasmtime's public calls cost several times as much as the bindings underneath, so those are used where the pinned
version has them; without them the public way is taken.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Protocol

import wasmtime
from wasmtime import _ffi as ffi

try:
    from wasmtime import _bindings as raw

    def _at_once(function: Any) -> Any:
        """The same function without letting go of the interpreter's lock: for what takes no time and runs no guest.

        Letting go costs a wait for whichever thread takes it, at each call.
        """
        quick = getattr(ctypes.PyDLL(ffi.dll._name), function.__name__)
        quick.argtypes, quick.restype = function.argtypes, function.restype
        return quick

    _call = raw._wasmtime_func_call
    _export = _at_once(raw._wasmtime_instance_export_get)
    _base, _size = _at_once(raw._wasmtime_memory_data), _at_once(raw._wasmtime_memory_data_size)
    _define = raw._wasmtime_linker_define_func_unchecked
    _Callback = raw.wasmtime_func_unchecked_callback_t
    HAS_BINDINGS = True
except (ImportError, AttributeError):
    HAS_BINDINGS = False

# What the snapshot keeps; the two that begin a module are only there before it.
KEPT = ("memory", "fj_alloc", "fj_free", "fj_exchange", "fj_run", "fj_settle", "fj_pump", "fj_finish", "fj_memory")
# What every run calls, found when the instance is made, which is while nobody waits.
_ALWAYS = ("fj_run",)
_VOID = frozenset(("_initialize", "fj_free"))
_I32, _F64 = 0, 3
_MOST_ARGUMENTS = 7


SendRaw = Callable[[int, int, int], int]


def define_send(linker: wasmtime.Linker, send: SendRaw) -> object:
    """Give the linker `forja.send`; what comes back must live as long as the linker. `send` must never raise."""
    i32 = wasmtime.ValType.i32
    kind = wasmtime.FuncType([i32(), i32(), i32()], [i32()])
    if not HAS_BINDINGS:
        linker.define_func("forja", "send", kind, send)
        return send

    def called(_: int, caller: int, values: int, count: int) -> int:
        raw_values = _SEND_VALUES.from_address(values)
        raw_values[0] = send(raw_values[0], raw_values[4], raw_values[8])
        return 0

    callback = _SEND(called)
    error = _define(
        linker.ptr(), _text("forja"), 5, _text("send"), 4, kind.ptr(), ctypes.cast(callback, _Callback), None, _NOTHING
    )
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)
    return callback


# A raw value has 16 bytes, of which an i32 takes the first four.
_SEND_VALUES = ctypes.c_int32 * 12
_SEND = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_NOTHING = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))


def _text(name: str) -> Any:
    return ctypes.create_string_buffer(name.encode(), len(name))


class Guest(Protocol):
    def call(self, name: str, *arguments: int | float) -> int: ...
    def read(self, pointer: int, length: int) -> bytes: ...
    def write(self, pointer: int, data: bytes) -> None: ...
    def memory_bytes(self) -> int: ...
    def base(self) -> int: ...
    def stack_pointer(self) -> int: ...


def guest_of(instance: wasmtime.Instance, store: wasmtime.Store) -> Guest:
    return BoundGuest(instance, store) if HAS_BINDINGS else PublicGuest(instance, store)


class PublicGuest:
    """By wasmtime's documented interface."""

    def __init__(self, instance: wasmtime.Instance, store: wasmtime.Store) -> None:
        self._store = store
        self._exports = instance.exports(store)
        self._memory: Any = self._exports["memory"]

    def call(self, name: str, *arguments: int | float) -> int:
        function: Any = self._exports[name]
        return function(self._store, *arguments) or 0

    def read(self, pointer: int, length: int) -> bytes:
        _check(pointer, length, self.memory_bytes())
        return bytes(self._memory.read(self._store, pointer, pointer + length))

    def write(self, pointer: int, data: bytes) -> None:
        self._memory.write(self._store, data, pointer)

    def memory_bytes(self) -> int:
        return int(self._memory.data_len(self._store))

    def base(self) -> int:
        return ctypes.cast(self._memory.data_ptr(self._store), ctypes.c_void_p).value or 0

    def stack_pointer(self) -> int:
        pointer: Any = self._exports["__stack_pointer"]
        return int(pointer.value(self._store))


class BoundGuest:
    """By the bindings, with every buffer made once per instance: one thread at a time is in it."""

    def __init__(self, instance: wasmtime.Instance, store: wasmtime.Store) -> None:
        self._store, self._instance = store, instance
        self._context = store._context()
        self._handle = ctypes.byref(instance._instance)
        memory = self._find("memory").of.memory
        self._memory, self._memory_kept = ctypes.byref(memory), memory
        self._functions: dict[str, Any] = {}
        self._values = (ffi.wasmtime_val_t * _MOST_ARGUMENTS)()
        self._results = (ffi.wasmtime_val_t * 1)()
        for name in _ALWAYS:
            self._function(name)

    def call(self, name: str, *arguments: int | float) -> int:
        function = self._functions.get(name) or self._function(name)
        values, results = self._values, self._results
        for index, argument in enumerate(arguments):
            value: Any = values[index]
            if type(argument) is float:
                value.kind, value.of.f64 = _F64, argument
            else:
                value.kind, value.of.i32 = _I32, argument
        wanted = 0 if name in _VOID else 1
        trap = ctypes.POINTER(ffi.wasm_trap_t)()
        error = _call(self._context, function, values, len(arguments), results, wanted, ctypes.byref(trap))
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)
        if trap:
            raise wasmtime.Trap._from_ptr(trap)
        return int(results[0].of.i32) if wanted else 0

    def read(self, pointer: int, length: int) -> bytes:
        _check(pointer, length, self.memory_bytes())
        return ctypes.string_at(self.base() + pointer, length)

    def write(self, pointer: int, data: bytes) -> None:
        _check(pointer, len(data), self.memory_bytes())
        ctypes.memmove(self.base() + pointer, data, len(data))

    def memory_bytes(self) -> int:
        return int(_size(self._context, self._memory))

    def base(self) -> int:
        return ctypes.cast(_base(self._context, self._memory), ctypes.c_void_p).value or 0

    def stack_pointer(self) -> int:
        pointer: Any = self._instance.exports(self._store)["__stack_pointer"]
        return int(pointer.value(self._store))

    def _function(self, name: str) -> Any:
        found = self._find(name)
        handle = self._functions[name] = ctypes.byref(found.of.func)
        return handle

    def _find(self, name: str) -> Any:
        item = ffi.wasmtime_extern_t()
        if not _export(self._context, self._handle, _text(name), len(name), ctypes.byref(item)):
            raise KeyError(name)
        return item


def _check(pointer: int, length: int, size: int) -> None:
    if pointer + length > size:
        raise IndexError("the guest named bytes outside its memory")
