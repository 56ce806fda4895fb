"""A page that applies frames as htmx does, and objects to what a real one would show twice or lose."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from tests.runs.page.reading import VOID


@dataclass
class Node:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def elements(self) -> list[Node]:
        found = []
        for child in self.children:
            if isinstance(child, Node):
                found += [child, *child.elements()]
        return found

    def find(self, wanted: str) -> Node | None:
        return next((node for node in self.elements() if node.id == wanted), None)

    def all(self, tag: str, css: str = "") -> list[Node]:
        found = [node for node in self.elements() if node.tag == tag]
        return [node for node in found if not css or css in node.attributes.get("class", "").split()]


class _Builder(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("root")
        self._open = [self.root]
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"{tag} closes {self._open[-1].tag}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


def parsed(html: str) -> Node:
    return _Builder(html).root


class Screen:
    """Starts as a page's HTML; `apply` does with a frame what htmx would."""

    def __init__(self, html: str) -> None:
        self.root = parsed(html)
        self._check()

    def apply(self, frame: str) -> None:
        for piece in parsed(frame).children:
            if isinstance(piece, Node):
                self._swap(piece)
        self._check()

    def _swap(self, piece: Node) -> None:
        how, target = piece.attributes["hx-swap-oob"], self.root.find(piece.id)
        assert target is not None, f"#{piece.id} is not on the page"
        match how:
            case "innerHTML":
                target.children = piece.children
            case "beforeend":
                target.children += piece.children
            case "afterbegin":
                target.children = piece.children + target.children
            case "true":
                target.attributes, target.children = piece.attributes, piece.children
            case "delete":
                self._parent(target).children.remove(target)
            case _:
                raise AssertionError(how)

    def _parent(self, node: Node) -> Node:
        return next(each for each in [self.root, *self.root.elements()] if node in each.children)

    def _check(self) -> None:
        ids = [node.id for node in self.root.elements() if node.id]
        assert len(ids) == len(set(ids)), sorted({each for each in ids if ids.count(each) > 1})

    # ── What is seen ────────────────────────────────────────────────────────────────────────────

    @property
    def printed(self) -> str:
        return "".join(node.text for node in self.root.all("samp"))

    @property
    def calls(self) -> list[Node]:
        return self.root.all("li", "call")

    def text_of(self, wanted: str) -> str:
        node = self.root.find(wanted)
        return " ".join(node.text.split()) if node is not None else ""
