"""Makes the compiled engine: run the module until the prelude is installed, snapshot it, compile that once.

It runs as a child process of its own (`prepare` starts it): compiling in a process that is later forked, or
was, hangs wasmtime's thread pool, and the parent of a child host then needs no wasmtime at all.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sandboxes import child
from sandboxes.errors import EngineUnavailable
from sandboxes.quickjs import cache, snapshot
from sandboxes.quickjs.prelude import prelude_source

COMPILE_SECONDS = 120


def prepare(*, wasm: Path, folder: Path, label: str) -> cache.Compiled:
    """Give the compiled engine, making it first if it is missing or damaged.

    Raises EngineMismatch, EngineUnavailable. Two processes doing this at once make it once.
    """
    cache.check_engine(wasm)
    folder = cache.open_folder(folder)
    key = cache.key_of(prelude=prelude_source())
    if (found := cache.find(folder, key=key)) is not None:
        return found
    with cache.locked(folder):
        if (found := cache.find(folder, key=key)) is not None:
            return found
        _compile_in_child(wasm=wasm, folder=folder, key=key, label=label)
    if (found := cache.find(folder, key=key)) is None:
        raise EngineUnavailable("the JavaScript engine was compiled, but is not in its cache folder")
    return found


def _compile_in_child(*, wasm: Path, folder: Path, key: str, label: str) -> None:
    command = child.python_command("sandboxes.quickjs.compile", str(wasm), str(folder), key)
    process = child.start(command, label=label, stderr=subprocess.PIPE, limits=child.COMPILER)
    try:
        _, complaint = process.communicate(timeout=COMPILE_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise EngineUnavailable(f"compiling the JavaScript engine took over {COMPILE_SECONDS} s") from error
    finally:
        child.end(process)
    if process.returncode != 0:
        told = complaint.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
        raise EngineUnavailable(f"the JavaScript engine could not be compiled: {told[0][:500]}")


def compiled_code(*, module: bytes, prelude: str) -> bytes:
    """Snapshot the module with this prelude installed and give the native code."""
    from sandboxes.quickjs.guest import KEPT
    from sandboxes.quickjs.vm import Slot

    image, stack_pointer = _started(module=module, prelude=prelude)
    ready = snapshot.preinitialised(module=module, image=image, stack_pointer=stack_pointer, keep=frozenset(KEPT))
    return Slot(module=ready).serialized()


def _started(*, module: bytes, prelude: str) -> tuple[bytes, int]:
    from sandboxes.quickjs.vm import Slot

    vm = Slot(module=module).open(heap_bytes=64 * 1024 * 1024, send=lambda op, payload: 0)
    vm.call("_initialize")
    source = prelude.encode()
    pointer = vm.put(source + b"\0")
    if vm.call("fj_init", pointer, len(source)) != 0:
        told = vm.result(most=10_000) or b""
        raise RuntimeError(f"the prelude does not start: {told.decode('utf-8', 'replace')}")
    vm.call("fj_free", pointer)
    return vm.image(), vm.stack_pointer()


def main(wasm: str, folder: str, key: str) -> None:
    cache.check_engine(Path(wasm))
    code = compiled_code(module=Path(wasm).read_bytes(), prelude=prelude_source())
    cache.store(Path(folder), key=key, code=code)


if __name__ == "__main__":
    main(*sys.argv[1:])
