"""Real engines for the tests: one per host, shared; the built module must be there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.quickjs.backend import QuickJS
from sandboxes.quickjs.build import COMMAND, DEFAULT_FOLDER, FILE_NAME


@pytest.fixture(scope="session")
def built_engine() -> Path:
    path = DEFAULT_FOLDER / FILE_NAME
    if not path.is_file():
        pytest.skip(f"the JavaScript engine is not built: run {COMMAND}")
    return path


@pytest.fixture(scope="session")
def engine_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine") / "cache"


@pytest.fixture(scope="session", params=["worker", "process"])
def engine(request: pytest.FixtureRequest, built_engine: Path, engine_cache: Path) -> Iterator[QuickJS]:
    made = QuickJS(wasm_path=built_engine, cache_dir=engine_cache, host=request.param, slots=8, instance="tests")
    made.warm()
    yield made
    made.close()


@pytest.fixture
def process_engine(built_engine: Path, engine_cache: Path) -> Iterator[QuickJS]:
    """A child host of the test's own, with one slot."""
    made = QuickJS(wasm_path=built_engine, cache_dir=engine_cache, host="process", slots=1, instance="tests")
    made.warm()
    yield made
    made.close()


@pytest.fixture
def worker_engine(built_engine: Path, engine_cache: Path) -> Iterator[QuickJS]:
    made = QuickJS(wasm_path=built_engine, cache_dir=engine_cache, host="worker", slots=1, instance="tests")
    made.warm()
    yield made
    made.close()
