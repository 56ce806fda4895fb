"""Shell-style path patterns with `**`, matched name by name so that a walk can leave out what cannot match."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property

from sandboxes.errors import InvalidInput

MAX_PATTERN_CHARS = 500
MAX_ALTERNATIVES = 32

Positions = frozenset[tuple[int, int]]

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class Glob:
    """One pattern: `*` and `?` within a name, `[a-z]`, `{a,b}`, and `**` for any number of folders.

    Case-sensitive, and the same whichever way accents are composed. A walk starts at `start`, makes one
    `step` per name, and drops a folder for which nothing is left.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MAX_PATTERN_CHARS:
            raise InvalidInput(f"`glob` is longer than {MAX_PATTERN_CHARS} characters.", field="glob")
        self.pattern = pattern
        self._alternatives = [_compile(text) for text in _expand(unicodedata.normalize("NFC", pattern))]

    @cached_property
    def start(self) -> Positions:
        return self._reach((which, 0) for which in range(len(self._alternatives)))

    def step(self, positions: Positions, name: str) -> Positions:
        """Give where the pattern can be after one more name."""
        name = unicodedata.normalize("NFC", name)
        return self._reach(after for position in positions for after in self._advance(position, name))

    def accepts(self, positions: Positions) -> bool:
        return any(at == len(self._alternatives[which]) for which, at in positions)

    def matches(self, path: str) -> bool:
        positions = self.start
        for name in path.split("/"):
            positions = self.step(positions, name)
        return self.accepts(positions)

    def _advance(self, position: tuple[int, int], name: str) -> list[tuple[int, int]]:
        which, at = position
        names = self._alternatives[which]
        if at == len(names):
            return []
        wanted = names[at]
        if wanted is None:
            return [(which, at)]
        return [(which, at + 1)] if wanted.match(name) else []

    def _reach(self, positions: Iterable[tuple[int, int]]) -> Positions:
        """Add the places after each `**`, which may stand for no folder at all."""
        found: set[tuple[int, int]] = set()
        for which, at in positions:
            names = self._alternatives[which]
            found.add((which, at))
            while at < len(names) and names[at] is None:
                at += 1
                found.add((which, at))
        return frozenset(found)


def _compile(pattern: str) -> list[re.Pattern[str] | None]:
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    return [None if name == "**" else re.compile(fnmatch.translate(name)) for name in names]


def _expand(pattern: str) -> list[str]:
    """Write out `{a,b}`, innermost first, up to a fixed number of alternatives."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        text = waiting.pop()
        found = _BRACES.search(text)
        if found is None:
            done.append(text)
        else:
            waiting += [text[: found.start()] + choice + text[found.end() :] for choice in found[1].split(",")]
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise InvalidInput(f"`glob` stands for more than {MAX_ALTERNATIVES} patterns.", field="glob")
    return done
