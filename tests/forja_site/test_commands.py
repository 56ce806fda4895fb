"""The account commands, and what `serve` tells a person once it is up."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from forja_site.supervisor_home import held
from runs import accounts
from runs.management.commands.serve import greeting, keep_admin_token
from runs.models import ApiToken, SignInLink, User

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.parametrize("role", ["user", "analyst", "admin"])
def test_it_makes_a_user_and_prints_a_link_that_signs_in_once(role: str) -> None:
    link = printed("user", "create", "Zoë", "--role", role)
    assert link.startswith("http://127.0.0.1:")
    assert link.count("\n") == 1
    token = link.strip().partition("/sign-in/?token=")[2]
    user = accounts.redeem_sign_in_link(token)
    assert (user.username, user.role) == ("Zoë", role)
    with pytest.raises(accounts.Unauthenticated):
        accounts.redeem_sign_in_link(token)


def test_its_link_leads_to_the_instance_that_runs(settings: Any, tmp_path: Path) -> None:
    settings.FORJA_HOME = tmp_path
    with held(tmp_path, url="http://127.0.0.1:8200"):
        assert printed("user", "create", "ana").startswith("http://127.0.0.1:8200/sign-in/?token=")
    assert printed("user", "create", "eva").startswith(f"http://127.0.0.1:{settings.PORT}/sign-in/?token=")


def test_manage_finds_the_environment_by_itself() -> None:
    bare = Path(sys.base_prefix, "bin", "python3")
    done = subprocess.run([bare, "-I", "manage.py", "help"], cwd=ROOT, capture_output=True, text=True)
    if not (ROOT / ".venv").exists():
        assert "make setup" in done.stderr
    else:
        assert done.returncode == 0 and "serve" in done.stdout


def test_it_refuses_a_name_that_is_taken() -> None:
    printed("user", "create", "ana")
    with pytest.raises(CommandError, match="ana"):
        printed("user", "create", "ana")
    assert User.objects.filter(username="ana").count() == 1


@pytest.mark.parametrize("name", ["", " ana", "a\nb", "x" * 65])
def test_it_refuses_a_name_that_is_none(name: str) -> None:
    with pytest.raises(CommandError):
        printed("user", "create", name)
    assert not User.objects.exists()


def test_it_refuses_a_role_that_does_not_exist() -> None:
    with pytest.raises(CommandError, match="root"):
        printed("user", "create", "ana", "--role", "root")


def test_it_makes_a_token_and_prints_it_alone() -> None:
    printed("user", "create", "ana")
    token = printed("token", "create", "ana", "--days", "30").strip()
    user = accounts.user_of_token(token)
    assert user is not None
    assert user.username == "ana"
    row = ApiToken.objects.get()
    assert row.expires_at is not None
    assert (row.expires_at - row.created_at).days in (29, 30)


@pytest.mark.parametrize("arguments", [("nobody",), ("ana", "--days", "0"), ("ana", "--days", "-1")])
def test_it_makes_no_token_for_nobody_or_for_no_time(arguments: tuple[str, ...]) -> None:
    printed("user", "create", "ana")
    with pytest.raises(CommandError):
        printed("token", "create", *arguments)
    assert not ApiToken.objects.exists()


# ── serve ───────────────────────────────────────────────────────────────────────────────────────


def test_it_makes_one_admin_and_one_token_over_many_starts(tmp_path: Path) -> None:
    first = keep_admin_token(tmp_path).read_text()
    assert keep_admin_token(tmp_path).read_text() == first
    assert (tmp_path / "admin-token").stat().st_mode & 0o777 == 0o600
    assert (User.objects.count(), ApiToken.objects.count()) == (1, 1)


@pytest.mark.parametrize("text", ["", "forja_of-another-home", "\udcff", "a\nb"])
def test_it_replaces_a_token_that_does_not_work(tmp_path: Path, text: str) -> None:
    (tmp_path / "admin-token").write_text(text, errors="surrogateescape")
    user = accounts.user_of_token(keep_admin_token(tmp_path).read_text().strip())
    assert user is not None
    assert user.is_admin


def test_it_replaces_a_revoked_token(tmp_path: Path) -> None:
    first = keep_admin_token(tmp_path).read_text()
    ApiToken.objects.all().delete()
    assert keep_admin_token(tmp_path).read_text() != first


def test_it_greets_with_one_link_that_is_good_more_than_once(tmp_path: Path) -> None:
    text = "\n".join(greeting(home=tmp_path, url="http://127.0.0.1:8000"))
    assert text.count("http://") == 1
    token = text.partition("/sign-in/?token=")[2].split()[0]
    assert accounts.redeem_sign_in_link(token).is_admin
    assert accounts.redeem_sign_in_link(token).is_admin
    assert token not in (tmp_path / "admin-token").read_text()
    assert SignInLink.objects.get().token_sha256 != token


def test_it_lists_accounts_with_role_and_state() -> None:
    printed("user", "create", "ana", "--role", "admin")
    printed("user", "create", "zoe")
    printed("user", "disable", "zoe")
    assert [line.split() for line in printed("user", "list").splitlines()] == [
        ["admin", "active", "ana"],
        ["user", "disabled", "zoe"],
    ]


def test_it_disables_enables_and_gives_another_role() -> None:
    printed("user", "create", "ana", "--role", "admin")
    token = printed("token", "create", "ana").strip()
    with pytest.raises(CommandError, match="last admin"):
        printed("user", "disable", "ana")
    printed("user", "create", "eva", "--role", "admin")
    assert "may not sign in" in printed("user", "disable", "ana")
    assert accounts.user_of_token(token) is None
    with pytest.raises(CommandError, match="disabled"):
        printed("token", "create", "ana")
    with pytest.raises(CommandError, match="disabled"):
        printed("user", "link", "ana")
    assert "may sign in" in printed("user", "enable", "ana")
    assert "role analyst" in printed("user", "role", "ana", "analyst")
    assert User.objects.get(username="ana").role == "analyst"


def test_it_prints_a_new_link_for_an_account_there_is() -> None:
    first = printed("user", "create", "ana").strip().partition("token=")[2]
    second = printed("user", "link", "ana").strip().partition("token=")[2]
    with pytest.raises(accounts.Unauthenticated):
        accounts.redeem_sign_in_link(first)
    assert accounts.redeem_sign_in_link(second).username == "ana"


def test_it_lists_and_revokes_tokens() -> None:
    printed("user", "create", "ana")
    token = printed("token", "create", "ana").strip()
    printed("token", "create", "ana", "--days", "3")
    rows = printed("token", "list", "ana").splitlines()
    assert len(rows) == 2 and "no end" in rows[1] and not any(token in row for row in rows)
    assert printed("token", "revoke", rows[1].split()[0]) == "Revoked.\n"
    assert accounts.user_of_token(token) is None
    assert len(printed("token", "list", "ana").splitlines()) == 1
    with pytest.raises(CommandError, match="no such token"):
        printed("token", "revoke", rows[1].split()[0])


@pytest.mark.parametrize(
    "command",
    [
        ("user", "link", "x"),
        ("user", "disable", "x"),
        ("user", "role", "x", "user"),
        ("token", "list", "x"),
        ("token", "create", "x"),
    ],
)
def test_an_account_that_does_not_exist_is_told(command: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="no account 'x'"):
        printed(*command)
