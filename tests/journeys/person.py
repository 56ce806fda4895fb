"""What a person does and sees on the pages."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

ENDED = re.compile("Succeeded|Failed|Timed out|Cancelled|Interrupted|Denied")


class Person:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._hears)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hears(self, message: ConsoleMessage) -> None:
        # What htmx says of a socket that was cut: the journeys that cut one look at the page instead.
        if message.type in ("error", "warning") and message.text != "[object Event]":
            self.complaints.append(message.text)

    def signs_in(self, link: str) -> None:
        self.page.goto(link)
        expect(self.page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()

    def opens_session(self, title: str) -> None:
        self.page.get_by_label("Title").fill(title)
        self.page.get_by_role("button", name="Open session").click()
        expect(self.page.get_by_role("heading", name=title, level=1)).to_be_visible()
        self.is_live()

    def is_live(self) -> None:
        """Wait until the socket has spoken: the page then follows its runs."""
        expect(self.page.locator("#live[data-heard]")).to_be_attached()

    def runs(self, code: str, title: str) -> Locator:
        """Send a script; gives its card."""
        self.sends(code, title)
        card = self.card(title)
        expect(card).to_be_visible()
        return card

    def sends(self, code: str, title: str) -> None:
        self.page.get_by_label("Title").fill(title)
        self.page.get_by_label("Code, JavaScript").fill(code)
        self.page.get_by_role("button", name="Run", exact=False).first.click()

    def card(self, title: str) -> Locator:
        return self.page.get_by_role("article", name=title, exact=True)

    def sees_status(self, card: Locator, word: str) -> None:
        expect(card.locator(".run-head [role=status]")).to_have_text(word)

    def sees_the_end(self, card: Locator) -> None:
        expect(card.locator(".run-head [role=status]")).to_have_text(ENDED, timeout=30_000)

    def part(self, card: Locator, name: str) -> Locator:
        return card.locator(".part").filter(has=self.page.locator(".part-name", has_text=re.compile(f"^{name}")))

    def overflow_px(self) -> int:
        """How far the page can be scrolled sideways."""
        return int(self.page.evaluate("Math.max(0, document.documentElement.scrollWidth - window.innerWidth)"))

    def asks(self, script: str, *arguments: Any) -> Any:
        return self.page.evaluate(script, *arguments)
