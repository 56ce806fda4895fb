"""Every page, narrow and wide, light and dark, in both languages: nothing overflows, nothing complains."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import link_of
from tests.journeys.person import Person

SCRIPT = """
const answers = await Promise.all([30, 60, 90, 40, 20, 10].map((ms) => tools.fx_sleep({ ms })));
console.log("one line of output that is so long that a narrow page has to wrap it, " + "x".repeat(300));
console.warn("careful");
return { answers, text: "y".repeat(200), nested: { deep: [1, [2, [3]]] } };
"""
BROKEN = "const veryLongName = { a: 1 }; return veryLongName.b.c.d.e.f.g; // " + "z" * 200


@pytest.fixture(scope="module")
def room(live_forja):
    """A session with one run of each kind that a person may look at."""
    session = live_forja.session(title="A look at everything, with a title that does not fit on a narrow page")
    live_forja.run(SCRIPT, session=session, title="Parallel calls and a value")
    failed = live_forja.run(BROKEN, session=session, title="Failing")
    live_forja.run("for (;;) {}", session=session, title="Too slow", timeoutMs=200)
    return f"/sessions/{session}/", f"/runs/{failed['id']}/"


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 768, 1440])
def test_pages_fit_and_browsers_have_nothing_to_complain_about(chromium, live_forja, room, width, scheme, language):
    context = chromium.new_context(
        base_url=live_forja.url,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        locale=language,
        reduced_motion="reduce",
    )
    person = Person(context.new_page())
    person.page.goto(link_of(live_forja))
    for path in ("/", *room, "/sign-in/", "/runs/nope/"):
        person.page.goto(path)
        expect(person.page.locator("h1")).to_be_visible()
        assert person.page.locator("html").get_attribute("lang") == language
        person.asks("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        assert person.overflow_px() == 0, path
    context.close()
    assert [words for words in person.complaints if "404" not in words] == []


def test_every_text_is_readable_against_its_ground(chromium, live_forja, room):
    """WCAG's 4.5 to 1, for every word on a page of cards, in both schemes."""
    for scheme in ("light", "dark"):
        context = chromium.new_context(base_url=live_forja.url, color_scheme=scheme, locale="en")
        page = context.new_page()
        page.goto(link_of(live_forja))
        page.goto(room[0])
        assert page.evaluate(CONTRAST) == []
        context.close()


CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (css) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = css; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const colour = rgba(getComputedStyle(element).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!words || element.closest("svg") || !element.checkVisibility()) continue;
    const [a, b] = [light(rgba(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${element.className} ${element.textContent.slice(0, 40)} ${ratio.toFixed(2)}`);
  }
  return poor;
}"""
