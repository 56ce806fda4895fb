"""Signing in by link or token, and out."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.accounts import create_sign_in_link, create_token, end_page_sessions
from tests.runs.page.reading import Markup


def test_a_good_link_signs_in_and_leaves_no_token_behind(client, owner):
    token = create_sign_in_link(user=owner)
    answer = client.get(f"/sign-in/?token={token}")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer["Cache-Control"]
    assert client.get("/").status_code == 200


def test_a_link_works_once(client, owner):
    token = create_sign_in_link(user=owner)
    Client().get(f"/sign-in/?token={token}")
    answer = client.get(f"/sign-in/?token={token}")
    assert answer.status_code == 401
    assert "This token is unknown, used or expired." in answer.content.decode()
    assert token not in answer.content.decode()


def test_a_preview_of_the_link_does_not_use_it_up(client, owner):
    token = create_sign_in_link(user=owner)
    assert Client().head(f"/sign-in/?token={token}").status_code == 200
    assert client.get(f"/sign-in/?token={token}").status_code == 302


def test_opening_the_own_link_again_is_no_error(client, owner):
    token = create_sign_in_link(user=owner)
    client.get(f"/sign-in/?token={token}")
    assert client.get(f"/sign-in/?token={token}")["Location"] == "/"


def test_the_form_takes_a_token_and_goes_on_where_one_wanted_to_be(client, owner):
    form = Markup(client.get("/sign-in/?next=/sessions/x/").content.decode())
    assert form.all("input", name="next")[0]["value"] == "/sessions/x/"
    answer = client.post("/sign-in/", {"token": create_sign_in_link(user=owner), "next": "/sessions/x/"})
    assert answer["Location"] == "/sessions/x/"


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"]
)
def test_it_never_leads_to_another_site(client, owner, target):
    answer = client.post("/sign-in/", {"token": create_sign_in_link(user=owner), "next": target})
    assert answer["Location"] == "/"


@pytest.mark.parametrize("token", ["wrong", "x" * 10_000, "\u202e\0"])
def test_a_wrong_token_is_refused_with_what_to_do(client, db, token):
    answer = client.post("/sign-in/", {"token": token})
    markup = Markup(answer.content.decode())
    assert answer.status_code == 401
    assert "This token is unknown, used or expired. Make a new one as below." in markup.text
    assert markup.all("input", id="token")[0]["aria-invalid"] == "true"


def test_an_api_token_signs_in_by_the_form_and_never_by_an_address(client, owner):
    token = create_token(user=owner, name="mine")
    assert client.get(f"/sign-in/?token={token}").status_code == 401
    assert client.post("/sign-in/", {"token": token}).status_code == 302
    assert client.get("/").status_code == 200


def test_the_form_is_guarded_against_other_sites(owner):
    guarded = Client(enforce_csrf_checks=True)
    assert guarded.post("/sign-in/", {"token": create_sign_in_link(user=owner)}).status_code == 403


def test_signing_out_takes_a_post_and_ends_it(browser):
    assert browser.get("/sign-out/").status_code == 405
    assert browser.post("/sign-out/")["Location"] == "/sign-in/"
    assert browser.get("/").status_code == 302


def test_ending_all_page_sessions_signs_out_every_browser(browser, owner):
    end_page_sessions(owner)
    assert browser.get("/")["Location"].startswith("/sign-in/")


@pytest.mark.parametrize("path", ["/", "/sessions/x/", "/runs/x/", "/runs/x/raw/code/"])
def test_nobody_gets_to_sign_in_first(client, db, path):
    assert client.get(path)["Location"] == f"/sign-in/?next={path.replace('/', '%2F')}"
