"""Cards and their live fragments as HTML: the page and the socket fill the same templates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from runs.card_calls import CallView
from runs.cards import Card
from runs.printed import Chunk
from runs.session_list import Entry

PARTS = ("status", "meta", "actions", "body")


def fill(template: str, request: HttpRequest | None = None, **context: Any) -> SafeString:
    return render_to_string(f"runs/{template}.html", context, request=request)


def card_html(card: Card, request: HttpRequest | None = None) -> SafeString:
    return fill("_card", request, card=card)


def oob(tag: str, target: str, content: str, how: str = "innerHTML") -> SafeString:
    """Wrap `content` so that htmx puts it into the element with this id."""
    return format_html('<{} id="{}" hx-swap-oob="{}">{}</{}>', mark_safe(tag), target, how, content, mark_safe(tag))


def joined(pieces: Iterable[str]) -> SafeString:
    return mark_safe("\n".join(pieces))  # safe: every piece was rendered by a template


def heading(card: Card) -> str:
    """Parts are second-level headings on the run's own page, fourth-level in a card."""
    return "h2" if card.viewer.full else "h4"


def new_card(card: Card) -> SafeString:
    return oob("div", "cards", card_html(card), how="afterbegin")


def without(target: str) -> SafeString:
    """Take the element with this id off the page."""
    return oob("div", target, "", how="delete")


def whole(card: Card) -> SafeString:
    """Every part anew. The element that announces the status stays, so that its new word is read out."""
    pieces = [oob("div", f"{card.key}-{part}", part_html(card, part)) for part in PARTS]
    if card.viewer.full:
        pieces.append(oob("div", f"{card.key}-facts", fill("_figures", card=card)))
    return joined(pieces)


def part_html(card: Card, part: str) -> SafeString:
    return fill(f"_{part}", card=card, h=heading(card))


def slot(card: Card, name: str) -> SafeString:
    """The whole part `name` (progress, output, calls), into its slot in a live card."""
    return oob("div", f"{card.key}-{name}-slot", fill(f"_{name}_part", card=card, h=heading(card)))


def time(card: Card) -> SafeString:
    return oob("span", f"{card.key}-time", fill("_time", card=card))


def queue(card: Card) -> SafeString:
    return oob("p", f"{card.key}-queue", fill("_queue", card=card))


def progress(card: Card) -> SafeString:
    return oob("div", f"{card.key}-progress", fill("_progress", card=card, progress=card.progress))


def calls_count(card: Card) -> SafeString:
    return oob("span", f"{card.key}-count", fill("_calls_count", card=card))


def calls_list(card: Card) -> SafeString:
    return oob("ol", f"{card.key}-calls", fill("_calls_list", card=card))


def calls_added(card: Card, views: Iterable[CallView]) -> SafeString:
    items = joined(fill("_call", card=card, view=view) for view in views)
    return oob("ol", f"{card.key}-calls", items, how="beforeend")


def call_changed(card: Card, view: CallView) -> SafeString:
    return fill("_call", card=card, view=view, oob=True)


def printed_count(card: Card) -> SafeString:
    return oob("span", f"{card.key}-printed", fill("_printed", card=card))


def output_added(card: Card, chunks: Iterable[Chunk]) -> SafeString:
    """New pieces at the end of the pane; the first thing inside the `pre` is an element, so no newline is lost."""
    pieces = mark_safe("".join(fill("_chunk", card=card, chunk=chunk).strip("\n") for chunk in chunks))
    return oob("pre", f"{card.key}-output", pieces, how="beforeend")


def counts_html(counts: dict[str, int]) -> SafeString:
    return oob("span", "counts", fill("_counts", counts=counts))


def rail_note(entry: Entry) -> SafeString:
    return oob("small", f"rail-{entry.id}", fill("_rail_note", entry=entry))
