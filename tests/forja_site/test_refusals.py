"""`manage.py serve` that cannot start: one sentence on stderr with the way out, status 1, and nothing left behind."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from forja_site.instance import MAX_SOCKET_PATH_BYTES, broker_socket
from forja_site.supervisor_checks import is_loopback
from forja_site.supervisor_home import CannotStart, check_version, held, holder, private_folder
from forja_site.supervisor_ready import page_address
from tests.forja_site.instances import try_to_serve
from tests.live import free_port


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def assert_one_sentence(text: str, *words: str) -> None:
    assert text.startswith("Forja cannot start. ")
    assert "Traceback" not in text
    assert text.count("\n") == 1
    for word in words:
        assert word in text


def test_it_refuses_a_busy_port_before_it_makes_anything(tmp_path: Path, busy_port: int) -> None:
    done = try_to_serve(tmp_path / "home", PORT=str(busy_port))
    assert done.returncode == 1
    assert_one_sentence(done.stderr, f"Port {busy_port}", f"PORT={busy_port + 1}")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("port", ["eighty", "0", "70000", "-1", "80.0"])
def test_it_refuses_what_is_no_port(tmp_path: Path, port: str) -> None:
    done = try_to_serve(tmp_path / "home", PORT=port)
    assert done.returncode == 1
    assert_one_sentence(done.stderr, f"PORT={port}", "1 to 65535")


def test_it_refuses_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = try_to_serve(tmp_path / "file" / "home", PORT=str(free_port()))
    assert done.returncode == 1
    assert_one_sentence(done.stderr, "cannot be written", "FORJA_HOME=FOLDER")


def test_it_refuses_a_home_of_a_newer_version(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("99.0.0\n")
    done = try_to_serve(tmp_path, PORT=str(free_port()))
    assert done.returncode == 1
    assert_one_sentence(done.stderr, "99.0.0", "newer")


def test_it_refuses_to_start_without_the_engine(tmp_path: Path) -> None:
    done = try_to_serve(tmp_path, PORT=str(free_port()), FORJA_ENGINE_PATH=str(tmp_path / "none.wasm"))
    assert done.returncode == 1
    assert_one_sentence(done.stderr, "engine is missing", "make run")


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_it_refuses_a_public_host_without_the_production_variables(tmp_path: Path, host: str) -> None:
    done = try_to_serve(tmp_path / "home", PORT=str(free_port()), HOST=host)
    assert done.returncode == 1
    assert_one_sentence(done.stderr, f"HOST={host}", "SECRET_KEY and ALLOWED_HOSTS")


def test_it_refuses_a_host_that_this_machine_does_not_have(tmp_path: Path) -> None:
    production = {"SECRET_KEY": "k" * 50, "ALLOWED_HOSTS": "forja.example"}
    done = try_to_serve(tmp_path / "home", PORT=str(free_port()), HOST="192.0.2.1", **production)
    assert done.returncode == 1
    assert_one_sentence(done.stderr, "192.0.2.1")


@pytest.mark.parametrize(
    "host, answer",
    [("127.0.0.1", True), ("127.0.0.53", True), ("::1", True), ("localhost", True), ("10.0.0.1", False), ("x", False)],
)
def test_it_knows_a_loopback_address(host: str, answer: bool) -> None:
    assert is_loopback(host) is answer


@pytest.mark.parametrize(
    "host, allowed, origins, address",
    [
        ("127.0.0.1", ["127.0.0.1", "localhost"], [], "http://127.0.0.1:8000"),
        ("0.0.0.0", ["forja.example"], [], "http://forja.example:8000"),
        ("0.0.0.0", ["*"], [], "http://127.0.0.1:8000"),
        ("127.0.0.1", [".forja.example"], [], "http://forja.example:8000"),
        ("::1", ["[::1]"], [], "http://[::1]:8000"),
        ("127.0.0.1", ["forja.example"], ["https://forja.example/"], "https://forja.example"),
    ],
)
def test_it_names_an_address_that_the_site_answers_to(
    host: str, allowed: list[str], origins: list[str], address: str
) -> None:
    assert page_address(host, 8000, allowed=allowed, origins=origins) == address


# ── The home ────────────────────────────────────────────────────────────────────────────────────


def test_it_lets_one_process_hold_a_home_and_tells_another_where_it_runs(tmp_path: Path) -> None:
    with held(tmp_path, url="http://127.0.0.1:8123"):
        owner = holder(tmp_path)
        assert owner is not None
        assert (owner.pid, owner.url) == (os.getpid(), "http://127.0.0.1:8123")
        with pytest.raises(CannotStart, match="http://127.0.0.1:8123"), held(tmp_path, url=""):
            pass
    assert holder(tmp_path) is None


@pytest.mark.parametrize("found, is_newer", [("0.1.0", False), ("0.0.9", False), ("0.1.1", True), ("0.10.0", True)])
def test_it_compares_versions_by_their_numbers(tmp_path: Path, found: str, is_newer: bool) -> None:
    (tmp_path / "version").write_text(found + "\n")
    if is_newer:
        with pytest.raises(CannotStart, match=found):
            check_version(tmp_path, version="0.1.0")
    else:
        assert check_version(tmp_path, version="0.1.0") == found


def test_it_refuses_a_link_in_place_of_a_private_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotStart, match="somebody else"):
        private_folder(tmp_path / "run")


def test_it_puts_the_broker_s_socket_elsewhere_when_the_home_s_path_is_too_long(tmp_path: Path) -> None:
    assert broker_socket(Path("/srv/forja")) == Path("/srv/forja/run/broker.sock")
    far = tmp_path / ("d" * 120)
    assert len(os.fsencode(broker_socket(far))) <= MAX_SOCKET_PATH_BYTES
    assert broker_socket(far) != broker_socket(tmp_path / ("e" * 120))
