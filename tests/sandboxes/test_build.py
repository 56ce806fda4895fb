"""The engine is built from pinned files, is what the pin says, and imports one function."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import wasmtime

from sandboxes.errors import EngineMismatch, EngineUnavailable
from sandboxes.quickjs import build
from sandboxes.quickjs.pins import ENGINE_SHA256, QUICKJS_SOURCE, ZIG_COMPILER

REBUILD = "FORJA_TEST_REBUILD"


def test_the_built_engine_is_the_pinned_one(built_engine):
    assert hashlib.sha256(built_engine.read_bytes()).hexdigest() == ENGINE_SHA256


def test_it_imports_one_function_and_nothing_of_the_system(built_engine):
    module = wasmtime.Module.from_file(wasmtime.Engine(), str(built_engine))
    assert [(found.module, found.name) for found in module.imports] == [("forja", "send")]


def test_it_exports_what_the_host_calls(built_engine):
    module = wasmtime.Module.from_file(wasmtime.Engine(), str(built_engine))
    assert {found.name for found in module.exports} >= {
        "memory",
        "__stack_pointer",
        "_initialize",
        "fj_init",
        "fj_exchange",
        "fj_run",
        "fj_settle",
        "fj_pump",
        "fj_finish",
        "fj_memory",
    }


def test_an_engine_that_is_there_is_not_built_again(built_engine):
    said: list[str] = []
    assert build.build(into=built_engine.parent, say=said.append) == built_engine
    assert said == [f"JavaScript engine: already built ({built_engine})"]


def test_a_wrong_result_is_named_and_not_put_in_place(tmp_path, monkeypatch):
    def compile_something_else(*, work: Path, say: build.Say) -> Path:
        made = work / "quickjs.wasm"
        made.write_bytes(b"something else")
        return made

    monkeypatch.setattr(build, "compile_engine", compile_something_else)
    with pytest.raises(EngineMismatch) as raised:
        build.build(into=tmp_path, say=lambda line: None)
    assert raised.value.details == {"found": hashlib.sha256(b"something else").hexdigest(), "pinned": ENGINE_SHA256}
    assert list(tmp_path.iterdir()) == []


def test_a_package_file_with_another_hash_is_refused(tmp_path):
    (tmp_path / "ziglang.whl").write_bytes(b"not the compiler")
    with pytest.raises(EngineMismatch, match="ziglang"):
        build._verified(tmp_path, pin=ZIG_COMPILER)


def test_a_package_that_cannot_be_fetched_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(build.sys, "executable", "/bin/false")
    with pytest.raises(EngineUnavailable, match="could not fetch quickjs-ng"):
        build._fetch(QUICKJS_SOURCE, work=tmp_path)


def test_pins_are_whole_requirements():
    for pin in (QUICKJS_SOURCE, ZIG_COMPILER):
        assert pin.requirement == f"{pin.package}=={pin.version} --hash=sha256:{pin.sha256}"
        assert len(pin.sha256) == 64


def test_it_puts_the_file_in_place_whole_or_not_at_all(tmp_path):
    made = tmp_path / "made"
    made.write_bytes(b"engine")
    build._put_in_place(made, target=tmp_path / "into" / "quickjs.wasm")
    assert [path.name for path in (tmp_path / "into").iterdir()] == ["quickjs.wasm"]
    with pytest.raises(FileNotFoundError):
        build._put_in_place(tmp_path / "missing", target=tmp_path / "into" / "other.wasm")
    assert [path.name for path in (tmp_path / "into").iterdir()] == ["quickjs.wasm"]


@pytest.mark.skipif(not os.environ.get(REBUILD), reason=f"two builds take minutes and the network: set {REBUILD}=1")
@pytest.mark.timeout(900)
def test_two_builds_in_two_folders_are_the_same_byte_for_byte(tmp_path):
    hashes = set()
    for name in ("one", "another folder"):
        command = [sys.executable, "-m", "sandboxes.quickjs.build", "--into", str(tmp_path / name)]
        environment = os.environ | {"TMPDIR": str(tmp_path)}
        done = subprocess.run(command, cwd=build.ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        hashes.add(hashlib.sha256((tmp_path / name / build.FILE_NAME).read_bytes()).hexdigest())
    assert hashes == {ENGINE_SHA256}
