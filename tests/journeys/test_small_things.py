"""What a first visit stumbles over: blank space, cards out of view, drafts that vanish, facts that hide."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.conftest import link_of
from tests.journeys.person import Person
from tests.live import LiveForja

MANY_CALLS = "for (let i = 0; i < 45; i++) await tools.list_files({}); return 1"
LONG = "\n".join(["// a line that wraps on a phone, as most do"] * 9) + "\nreturn 1"
LOOSE_SCROLLERS = """() => [...document.querySelectorAll("body *")].filter((element) => {
  const style = getComputedStyle(element);
  const scrolls = [style.overflowX, style.overflowY].some((how) => how === "auto" || how === "scroll");
  return scrolls && style.position === "static" && element.tagName !== "TEXTAREA" && element.clientHeight > 0;
}).map((element) => element.className || element.tagName)"""


@pytest.fixture
def phone(chromium: Browser, live_forja: LiveForja) -> Iterator[Page]:
    context = chromium.new_context(
        base_url=live_forja.url, viewport={"width": 390, "height": 844}, locale="en", has_touch=True, is_mobile=True
    )
    page = Person(context.new_page()).page
    page.goto(link_of(live_forja))
    yield page
    context.close()


def test_nothing_lies_below_the_footer_and_what_scrolls_holds_its_hidden_words(person, live_forja):
    session = live_forja.session(title="Many calls")
    run = live_forja.run(MANY_CALLS, session=session, title="Many")
    for path in (f"/sessions/{session}/", f"/runs/{run['id']}/"):
        person.page.goto(path)
        expect(person.page.locator("article.run")).to_be_visible()
        blank = person.asks(
            "document.documentElement.scrollHeight"
            " - Math.max(innerHeight, document.querySelector('footer').getBoundingClientRect().bottom + scrollY)"
        )
        assert blank < 2
        assert person.asks(LOOSE_SCROLLERS) == []


def test_the_list_of_sessions_follows_a_run_that_ended_at_once(person):
    card = person.runs("return 1", "Quick")
    person.sees_the_end(card)
    expect(person.page.locator("nav.rail a[aria-current=page] small")).to_contain_text("Succeeded")


def test_on_a_phone_the_new_card_comes_into_view(phone, live_forja):
    phone.goto(f"/sessions/{live_forja.session(title='Phone')}/")
    expect(phone.locator("#live[data-heard]")).to_be_attached()
    phone.locator("textarea[name=code]").fill(LONG)
    phone.get_by_role("button", name="Run").first.tap()
    card = phone.locator("article.run").first
    expect(card).to_contain_text("Succeeded")
    expect(card.locator("h3")).to_be_in_viewport()
    expect(phone.locator("#said")).to_have_text("Sent.")


def test_a_reader_who_has_scrolled_on_stays_there(phone, live_forja):
    phone.goto(f"/sessions/{live_forja.session(title='Phone')}/")
    expect(phone.locator("#live[data-heard]")).to_be_attached()
    phone.locator("textarea[name=code]").fill(LONG)
    phone.evaluate(
        "document.addEventListener('htmx:beforeSend', () => document.dispatchEvent(new WheelEvent('wheel')))"
    )
    phone.get_by_role("button", name="Run").first.tap()
    expect(phone.locator("article.run").first).to_contain_text("Succeeded")
    assert phone.evaluate("document.querySelector('article.run').getBoundingClientRect().top > innerHeight - 120")


def test_on_a_phone_every_fact_is_somewhere_and_no_key_is_promised(phone, live_forja):
    session = live_forja.session(title="Facts")
    run = live_forja.run("return await tools.list_files({})", session=session, title="Facts")
    phone.goto(f"/runs/{run['id']}/")
    expect(phone.locator("#controls .under").first).to_contain_text("the WebAssembly module imports one function")
    expect(phone.locator("#limits .under").first).to_have_text("forge.javascript.timeoutMs")
    expect(phone.locator(".call .bytes").first).to_be_visible()
    phone.goto(f"/sessions/{session}/")
    expect(phone.locator("#composer-run kbd")).to_be_hidden()


def test_without_script_nothing_is_offered_that_needs_it(chromium, live_forja):
    session = live_forja.session(title="Plain")
    live_forja.run("console.log(1); return 1", session=session)
    context = chromium.new_context(base_url=live_forja.url, java_script_enabled=False, locale="en")
    page = context.new_page()
    page.goto("/sign-in/")
    expect(page.get_by_role("button", name="Copy the command")).to_be_hidden()
    page.goto(link_of(live_forja))
    page.goto(f"/sessions/{session}/")
    expect(page.locator("article.run")).to_be_visible()
    for locator in page.locator("[data-copy-url], [commandfor], .button kbd").all():
        expect(locator).to_be_hidden()
    context.close()


def test_the_sign_in_page_does_not_scroll_when_it_fits(chromium, live_forja):
    for size in ({"width": 1440, "height": 900}, {"width": 390, "height": 844}):
        context = chromium.new_context(base_url=live_forja.url, viewport=size, locale="en")
        page = context.new_page()
        page.goto("/sign-in/")
        assert page.evaluate("document.documentElement.scrollHeight") <= size["height"]
        context.close()


def test_escape_leaves_the_code_field_and_keys_work_again(person):
    card = person.runs("await tools.fx_sleep({ ms: 60_000 })", "Asleep")
    person.sees_status(card, "Running")
    code = person.page.get_by_label("Code, JavaScript")
    code.focus()
    person.page.keyboard.press("Escape")
    expect(code).not_to_be_focused()
    person.page.keyboard.press("j")
    person.page.keyboard.press("x")
    person.sees_status(card, "Cancelled")


def test_what_was_typed_outlives_a_reload_and_is_forgotten_once_it_ran(person):
    code = person.page.get_by_label("Code, JavaScript")
    code.fill("return 'draft'")
    person.page.reload()
    expect(code).to_have_value("return 'draft'")
    person.is_live()
    card = person.runs("return 'draft'", "Drafted")
    person.sees_the_end(card)
    assert person.asks("Object.keys(localStorage).filter((key) => key.startsWith('forja-draft:'))") == []
    person.page.reload()
    expect(code).to_have_value("")


def test_an_example_takes_the_place_of_what_was_typed_only_when_one_agrees(person):
    code = person.page.get_by_label("Code, JavaScript")
    code.fill("return 'mine'")
    person.page.locator("#composer-examples summary").click()
    example = person.page.get_by_role("link", name="Read many files at once")
    dialog = person.page.get_by_role("dialog", name="Replace what you have written?")
    example.click()
    dialog.get_by_role("button", name="Keep it").click()
    expect(dialog).to_be_hidden()
    expect(code).to_have_value("return 'mine'")
    example.click()
    dialog.get_by_role("button", name="Replace it").click()
    expect(code).to_have_value(re.compile("list_files"))
    person.is_live()
