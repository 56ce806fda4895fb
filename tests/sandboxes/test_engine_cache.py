"""What is native code is checked before it runs; what is damaged is built again, never executed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sandboxes import child
from sandboxes.errors import EngineMismatch, EngineUnavailable
from sandboxes.quickjs import cache
from sandboxes.quickjs.backend import QuickJS
from sandboxes.quickjs.build import ROOT
from sandboxes.quickjs.compile import prepare
from sandboxes.quickjs.prelude import prelude_source
from tests.sandboxes.engine_host import run

HOSTS = pytest.mark.parametrize("host", ["worker", "process"])


@pytest.fixture
def filled(tmp_path, built_engine, engine_cache) -> Path:
    """A cache folder of the test's own that holds the compiled engine."""
    prepare(wasm=built_engine, folder=engine_cache, label="tests")
    folder = tmp_path / "cache"
    shutil.copytree(engine_cache, folder)
    folder.chmod(0o700)
    return folder


def compiled_files(folder: Path) -> list[Path]:
    return list(folder.glob("*.cwasm"))


def engine_with(built_engine: Path, folder: Path, host: str = "worker") -> QuickJS:
    return QuickJS(wasm_path=built_engine, cache_dir=folder, host=host, slots=1, instance="tests")


@HOSTS
def test_a_wrong_engine_is_a_mismatch_and_is_never_run(tmp_path, built_engine, engine_cache, host):
    wrong = tmp_path / "quickjs.wasm"
    wrong.write_bytes(built_engine.read_bytes()[:-1] + b"!")
    engine = engine_with(wrong, engine_cache, host)
    status = engine.status()
    assert (status.ready, type(status.error)) == (False, EngineMismatch)
    assert status.error.details["found"] in status.error.message
    assert status.error.details["pinned"] in status.error.message
    assert status.command == "python -m sandboxes.quickjs.build"
    with pytest.raises(EngineMismatch):
        run(engine, "return 1")


def test_a_missing_engine_says_which_command_builds_it(tmp_path, engine_cache):
    engine = engine_with(tmp_path / "quickjs.wasm", engine_cache)
    assert isinstance(engine.status().error, EngineUnavailable)
    assert "python -m sandboxes.quickjs.build" in engine.status().error.hint
    with pytest.raises(EngineUnavailable):
        run(engine, "return 1")


def test_an_engine_that_appears_or_changes_is_noticed(tmp_path, built_engine, engine_cache):
    engine = engine_with(tmp_path / "quickjs.wasm", engine_cache)
    assert not engine.status().ready
    shutil.copy(built_engine, tmp_path / "quickjs.wasm")
    assert engine.status().ready
    assert engine.status().engine.as_dict()["name"] == "QuickJS-NG"
    with (tmp_path / "quickjs.wasm").open("ab") as file:
        file.write(b"more")
    assert isinstance(engine.status().error, EngineMismatch)


@HOSTS
@pytest.mark.parametrize("damage", ["cut", "flipped", "replaced by a link"])
def test_a_damaged_cache_is_built_again(filled, built_engine, tmp_path, host, damage):
    [file] = compiled_files(filled)
    good = file.read_bytes()
    if damage == "cut":
        file.write_bytes(good[:1000])
    elif damage == "flipped":
        file.write_bytes(good[:5000] + bytes([good[5000] ^ 1]) + good[5001:])
    else:
        (tmp_path / "elsewhere").write_bytes(good)
        file.unlink()
        file.symlink_to(tmp_path / "elsewhere")
    engine = engine_with(built_engine, filled, host)
    try:
        assert run(engine, "return 40 + 2").value == 42
    finally:
        engine.close()
    [mended] = compiled_files(filled)
    assert cache.sha256_of(mended) == mended.stem.split("-")[1]
    assert not mended.is_symlink()


@HOSTS
def test_code_that_the_runtime_will_not_load_is_built_again(filled, built_engine, host):
    """The hash is right, but the runtime refuses it: as from another processor or version."""
    [file] = compiled_files(filled)
    key = file.stem.split("-")[0]
    bad = cache.store(filled, key=key, code=b"\x7fELF but no engine")
    assert cache.find(filled, key=key) == bad
    engine = engine_with(built_engine, filled, host)
    try:
        assert run(engine, "return 40 + 2").value == 42
    finally:
        engine.close()
    assert bad.path not in compiled_files(filled)


def test_the_folder_is_made_private(tmp_path):
    folder = cache.open_folder(tmp_path / "made" / "cache")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_lay_in_an_open_folder_is_not_trusted(filled):
    filled.chmod(0o777)
    cache.open_folder(filled)
    assert stat.S_IMODE(filled.stat().st_mode) == 0o700
    assert compiled_files(filled) == []


def test_a_link_in_place_of_the_folder_is_refused(filled, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(filled)
    with pytest.raises(EngineUnavailable, match="link"):
        cache.open_folder(link)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused(tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(EngineUnavailable, match="somebody else"):
        cache.open_folder(folder)


def test_another_prelude_has_another_key():
    assert cache.key_of(prelude=prelude_source()) != cache.key_of(prelude=prelude_source() + " ")


def test_two_processes_building_at_once_make_it_once(tmp_path, built_engine):
    folder = tmp_path / "cache"
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pathlib import Path;"
        f" from sandboxes.quickjs.compile import prepare;"
        f" print(prepare(wasm=Path({str(built_engine)!r}), folder=Path({str(folder)!r}), label='tests').sha256)"
    )
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate(timeout=120)[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    [file] = compiled_files(folder)
    assert told == [cache.sha256_of(file)] * 2


def test_a_compiler_that_fails_is_one_sentence(tmp_path, built_engine, monkeypatch):
    monkeypatch.setattr(
        child, "python_command", lambda module, *rest: ["/bin/sh", "-c", "echo the disk is full >&2; exit 3"]
    )
    with pytest.raises(EngineUnavailable, match="the disk is full"):
        prepare(wasm=built_engine, folder=tmp_path / "cache", label="tests")
