"""Other ways to get along: by keys alone, and without script."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.journeys.conftest import link_of
from tests.journeys.person import Person


def test_keys_open_the_help_reach_the_script_and_quiet_the_calls(person):
    page = person.page
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_hidden()
    page.keyboard.press("c")
    page.keyboard.type("await tools.fx_sleep({ ms: 5 }); return await tools.fx_fail({ kind: 'throw', message: 'no' });")
    page.keyboard.press("Control+Enter")
    card = person.card("Untitled script")
    person.sees_the_end(card)
    page.locator("h1").click()
    page.keyboard.press("q")
    expect(card.locator('.call[data-status="succeeded"]')).to_be_hidden()
    expect(card.locator('.call[data-status="failed"]')).to_be_visible()
    page.reload()
    person.is_live()
    expect(card.locator('.call[data-status="succeeded"]')).to_be_hidden()
    page.keyboard.press("q")
    expect(card.locator('.call[data-status="succeeded"]')).to_be_visible()


def test_code_is_copied_as_it_was_sent_by_key(person, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = "// \u202e </pre>\nreturn 'é'; //\ttab"
    card = person.runs(code, "Copied")
    person.sees_the_end(card)
    person.page.locator("h1").click()
    person.page.keyboard.press("j")
    person.page.keyboard.press("y")
    expect(person.page.locator('[data-toast="copied"]')).to_be_visible()
    assert person.asks("navigator.clipboard.readText()") == code


def test_the_main_job_works_without_script(chromium, live_forja):
    context = chromium.new_context(base_url=live_forja.url, java_script_enabled=False, locale="en-GB")
    person = Person(context.new_page())
    page = person.page
    person.signs_in(link_of(live_forja))
    page.get_by_label("Title").fill("Without script")
    page.get_by_role("button", name="Open session").click()
    person.sends("await tools.fx_sleep({ ms: 500 }); return { by: 'forms' }", "Plain")
    card = person.card("Plain")
    expect(card).to_be_visible()
    while page.get_by_role("link", name="Refresh").count():
        page.get_by_role("link", name="Refresh").click()
    expect(card).to_contain_text(re.compile('by "forms"'))
    person.sends("for (;;) {}", "Endless")
    person.card("Endless").get_by_role("button", name="Stop Endless").click()
    while page.get_by_role("link", name="Refresh").count():
        page.get_by_role("link", name="Refresh").click()
    person.sees_status(person.card("Endless"), "Cancelled")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Sign-in or API token")).to_be_visible()
    context.close()


def test_the_language_is_switched_by_a_link_and_the_socket_follows(person):
    person.page.get_by_role("link", name="Español").click()
    expect(person.page.locator("html")).to_have_attribute("lang", "es")
    person.is_live()
    person.page.get_by_label("Título").fill("Hola")
    person.page.get_by_label("Código, JavaScript").fill("return 1.5")
    person.page.get_by_role("button", name="Ejecutar").click()
    card = person.card("Hola")
    expect(card.locator(".run-head [role=status]")).to_have_text("Completada")
    expect(card.locator(".badge")).to_contain_text("aislada")
    person.page.get_by_role("link", name="English").click()
