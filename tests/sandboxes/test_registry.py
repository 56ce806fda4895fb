"""Every backend of the table keeps the protocol's promises."""

from __future__ import annotations

from sandboxes.base import Isolation, Limits
from sandboxes.registry import BACKENDS

NAMES = {"network", "filesystem", "environment", "memory", "cpu", "processes", "time", "output", "syscalls"}


def test_each_backend_is_listed_under_its_own_name():
    assert {name: backend.name for name, backend in BACKENDS.items()} == {name: name for name in BACKENDS}
    assert BACKENDS["quickjs"].isolation is Isolation.ISOLATED


def test_a_run_reports_every_control_in_words(tmp_path):
    for host in ("process", "worker"):
        backend = BACKENDS["quickjs"](wasm_path=tmp_path / "none", cache_dir=tmp_path, host=host)
        controls = backend.controls(Limits(timeout_ms=1234))
        assert set(controls) == NAMES
        assert all(control.how and control.requested for control in controls.values())
        assert "1,234 ms" in controls["time"].requested


def test_auto_is_a_child_process(tmp_path):
    backend = BACKENDS["quickjs"](wasm_path=tmp_path / "none", cache_dir=tmp_path, host="auto")
    assert backend.host == "process"
    assert "child process" in backend.host_reason()
