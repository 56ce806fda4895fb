"""Reading HTML in tests: what a person would read, and what the markup is made of."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "img", "rect", "line", "circle", "path", "use"}


class Markup(HTMLParser):
    """Every element with its attributes, and the text of each element that has an id."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.by_id: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self._open.append((tag, attributes.get("id", "")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("code", "a", "time"):
            self.texts.append(" ")
        while self._open:
            name, _id = self._open.pop()
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        for _tag, element_id in self._open:
            if element_id:
                self.by_id[element_id] = self.by_id.get(element_id, "") + data

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _attributes in self.elements}

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and all(attributes.get(key.replace("_", "-")) == value for key, value in wanted.items())
        ]

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] for _tag, attributes in self.elements if attributes.get("id")]


class Samples(HTMLParser):
    """The text of every `samp`, in order: what output panes show."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._inside = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "samp":
            self._inside = True
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "samp":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data


def printed(html: str) -> str:
    return "".join(Samples(html).texts)
