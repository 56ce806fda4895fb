"""The set-up's own decisions; that it really installs is what a clean clone shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forja_site import bootstrap
from tests.live import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with one pinned package installed whole."""
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "PYTHON", Path(sys.executable))
    (tmp_path / "requirements.txt").write_text("Some.Thing==1.0 \\\n    --hash=sha256:00\n    # via other-thing==2\n")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    package = tmp_path / ".venv" / "lib" / version / "site-packages" / "some_thing"
    record = package.with_name("Some_Thing-1.0.dist-info") / "RECORD"
    package.mkdir(parents=True)
    record.parent.mkdir()
    (package / "__init__.py").write_text("")
    record.write_text('some_thing/__init__.py,sha256=x,0\n"some_thing/gone.pyc",,\n')
    (tmp_path / ".venv" / ".forja-requirements").write_text(bootstrap._key("requirements"))
    return tmp_path


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the set-up would have done."""
    steps: list[str] = []
    monkeypatch.setattr(bootstrap, "_make_venv", lambda: steps.append("venv"))
    monkeypatch.setattr(bootstrap, "_install", lambda lists: steps.extend(lists))
    return steps


def test_it_does_nothing_when_everything_is_there(folder: Path, done: list[str]) -> None:
    bootstrap.make_environment(["requirements"])
    assert done == []


def test_it_installs_again_when_the_pins_changed(folder: Path, done: list[str]) -> None:
    path = folder / "requirements.txt"
    path.write_text(path.read_text().replace("hash=sha256:00", "hash=sha256:01"))
    bootstrap.make_environment(["requirements"])
    assert done == ["requirements"]
    bootstrap.make_environment(["requirements"])
    assert done == ["requirements"]


def test_it_starts_afresh_after_a_set_up_that_was_interrupted(folder: Path, done: list[str]) -> None:
    (folder / ".venv" / ".forja-half-made").touch()
    (folder / ".venv" / ".forja-requirements").unlink()
    bootstrap.make_environment(["requirements"])
    assert done == ["venv", "requirements"]


def test_it_starts_afresh_when_a_file_of_a_package_is_gone(folder: Path, done: list[str]) -> None:
    shutil.rmtree(next((folder / ".venv").rglob("some_thing")))
    bootstrap.make_environment(["requirements"])
    assert done == ["requirements", "venv", "requirements"]


def test_it_leaves_a_mark_when_it_is_interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(lists: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "_install", interrupted)
    (folder / ".venv" / ".forja-requirements").write_text("of an older list")
    with pytest.raises(KeyboardInterrupt):
        bootstrap.make_environment(["requirements"])
    assert (folder / ".venv" / ".forja-half-made").exists()


def test_it_builds_the_engine_again_when_its_sources_or_the_engine_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, path in {"ROOT": tmp_path, "ENGINE": tmp_path / "engine.wasm"}.items():
        monkeypatch.setattr(bootstrap, name, path)
    keys = [bootstrap._engine_key()]
    for path in (
        tmp_path / "engine.wasm",
        tmp_path / "sandboxes/guests/shim.c",
        tmp_path / "sandboxes/quickjs/pins.py",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
        keys.append(bootstrap._engine_key())
    assert len(set(keys)) == len(keys)


def test_it_needs_nothing_but_the_standard_library() -> None:
    # Without -S the packages of this environment could be imported.
    done = subprocess.run([sys.executable, "-S", "-c", "import forja_site.bootstrap"], cwd=ROOT, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_every_package_is_pinned_with_its_hashes_and_names_no_index(name: str) -> None:
    text = (ROOT / f"{name}.txt").read_text()
    blocks = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
    for block in blocks:
        assert re.match(r"[A-Za-z0-9._-]+==[^\s]+ ", block), block[:60]
        assert "--hash=sha256:" in block
    assert not re.search(r"index-url|find-links|https?:|file:", text)


def test_the_pins_are_those_that_were_asked_for() -> None:
    asked = (ROOT / "requirements.in").read_text()
    pins = {package.lower(): version for package, version in bootstrap._pins("requirements")}
    for line in asked.splitlines():
        if "==" in line and not line.startswith("#"):
            package, _, version = line.partition("==")
            assert pins[package.partition("[")[0].lower()] == version
