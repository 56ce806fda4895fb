"""The page of one's own account."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from runs import people
from runs.accounts import create_token, user_of_token
from runs.models import ApiToken
from tests.runs.page.conftest import signed_in
from tests.runs.page.reading import Markup


def test_it_says_who_one_is(browser):
    page = browser.get("/account/").content.decode()
    assert "owner, user" in page
    assert "No token yet" in page


def test_a_token_made_there_works_and_is_shown_this_once(browser, owner):
    page = browser.post("/account/", {"name": "laptop", "days": "90"}).content.decode()
    token = re.search(r"forja_[\w-]+", page)[0]
    assert user_of_token(token) == owner
    again = browser.get("/account/").content.decode()
    assert "laptop" in again and token not in again


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"name": ""}, "token-name"),
        ({"name": "x" * 101}, "token-name"),
        ({"name": "x", "days": "soon"}, "token-days"),
        ({"name": "x", "days": "0"}, "token-days"),
    ],
)
def test_what_cannot_be_made_is_told_beside_its_field(browser, given, wrong):
    answer = browser.post("/account/", given)
    assert answer.status_code == 400
    markup = Markup(answer.content.decode())
    assert markup.all("input", id=wrong)[0]["aria-invalid"] == "true"
    assert not ApiToken.objects.exists()


def test_only_ones_own_tokens_are_listed_and_revoked(browser, owner, stranger):
    token = create_token(user=owner, name="mine alone")
    row = ApiToken.objects.get()
    assert "mine alone" not in stranger.get("/account/").content.decode()
    assert stranger.post(f"/account/tokens/{row.pk}/revoke/").status_code == 404
    assert user_of_token(token) == owner
    assert browser.post(f"/account/tokens/{row.pk}/revoke/").status_code == 302
    assert user_of_token(token) is None
    assert "mine alone" not in browser.get("/account/").content.decode()
    assert browser.post(f"/account/tokens/{row.pk}/revoke/").status_code == 404


def test_signing_out_everywhere_ends_every_browser_and_no_token(browser, owner):
    elsewhere = signed_in(owner)
    token = create_token(user=owner, name="program")
    assert browser.post("/account/sign-out-everywhere/").status_code == 302
    for each in (browser, elsewhere):
        assert each.get("/account/")["Location"].startswith("/sign-in/")
    assert user_of_token(token) == owner


def test_a_signed_out_cookie_is_worth_nothing_to_whoever_copied_it(browser):
    thief = Client()
    thief.cookies.load({name: morsel.value for name, morsel in browser.cookies.items()})
    assert thief.get("/account/").status_code == 200
    browser.post("/sign-out/")
    assert thief.get("/account/").status_code == 302


def test_a_token_past_its_time_says_so(browser, owner):
    people.new_token(owner, name="old", days=1)
    ApiToken.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert "has ended" in browser.get("/account/").content.decode()
