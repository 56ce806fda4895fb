"""axe-core on every page, in light and dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import URLPattern, get_resolver
from playwright.sync_api import expect

PAGES = {
    "": "/",
    "sign-in/": "/sign-in/",
    "account/": "/account/",
    "sessions/<str:session_id>/": "/sessions/{session}/",
    "runs/<str:run_id>/": "/runs/{run}/",
}
"""Every path that answers with a page, and an address of it; `{session}` has a run of each kind, `{run}` is rich."""

NO_PAGES = {
    "api/": "JSON, and Swagger UI's own page",
    "health": "JSON",
    "sign-out/": "leads to another page",
    "account/tokens/<str:token_id>/revoke/": "leads to another page",
    "account/sign-out-everywhere/": "leads to another page",
    "sessions/<str:session_id>/runs/": "takes a form, gives a piece of a page",
    "sessions/<str:session_id>/live/": "gives pieces of a page",
    "runs/<str:run_id>/cancel/": "takes a click, gives a piece of a page",
    "runs/<str:run_id>/raw/<str:part>/": "plain text",
}

SCRIPT = """
progress({ note: "Half of it", completed: 1, total: 2 });
const answers = await Promise.all([30, 60].map((ms) => tools.fx_sleep({ ms })));
console.log("a line"); console.warn("another");
return { answers, nested: { deep: [1, [2, [3]]] } };
"""


def test_every_path_is_a_page_with_an_address_here_or_says_why_it_is_none():
    assert not PAGES.keys() & NO_PAGES.keys()
    assert {_spelt(pattern) for pattern in get_resolver().url_patterns if _spelt(pattern)} | _included() == (
        PAGES.keys() | NO_PAGES.keys()
    )


def _spelt(pattern):
    return str(pattern.pattern)


def _included():
    """The patterns of the included modules that add nothing in front of them."""
    return {
        _spelt(inner)
        for outer in get_resolver().url_patterns
        if not isinstance(outer, URLPattern) and not _spelt(outer)
        for inner in outer.url_patterns
    }


@pytest.fixture(scope="module")
def names(live_forja):
    """What the addresses above name."""
    session = live_forja.session(title="Everything there is to see")
    run = live_forja.run(SCRIPT, session=session, title="Calls, output and a value")
    live_forja.run("const a = {}; return a.b.c;", session=session, title="Failing")
    live_forja.run("for (;;) {}", session=session, title="Too slow", timeoutMs=200)
    return {"session": session, "run": run["id"]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_on_any_page(chromium, live_forja, names, scheme):
    context = chromium.new_context(base_url=live_forja.url, color_scheme=scheme, locale="en", reduced_motion="reduce")
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto("/sign-in/")
    found = {"signed out": violations(page)}
    page.goto(live_forja.sign_in_path())
    for address in (*PAGES.values(), "/runs/nope/"):
        page.goto(address.format(**names))
        expect(page.locator("h1")).to_be_visible()
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        found[address] = violations(page)
    context.close()
    assert {address: wrong for address, wrong in found.items() if wrong} == {}


def test_axe_would_find_something(chromium):
    """The check can fail: a picture without words and a field without a label."""
    context = chromium.new_context()
    page = context.new_page()
    page.set_content('<html><body><img src="x"><input></body></html>')
    rules = {wrong.split(":")[0] for wrong in violations(page)}
    context.close()
    assert {"image-alt", "label", "html-has-lang"} <= rules


def violations(page):
    """What breaks a rule: the rule, and the first elements that break it."""
    return [
        f"{rule['id']}: {', '.join(str(node['target']) for node in rule['nodes'][:4])}"
        for rule in Axe().run(page).response["violations"]
    ]
