"""A JSON value as nested, foldable HTML with a bounded number of nodes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import labels
from runs.visible import visible

MAX_SHOWN_DEPTH = 40
MAX_TEXT_CHARS = 1_000


class Number(str):
    """A number as it was written: converting it could lose digits, or refuse thousands of them."""

    __slots__ = ()


def parse(text: str) -> Any:
    """Decode a stored value without losing a digit; raises ValueError or RecursionError."""
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)


@dataclass(kw_only=True)
class _Budget:
    nodes: int
    lossy: dict[str, str] = field(default_factory=dict)

    def take(self) -> bool:
        self.nodes -= 1
        return self.nodes >= 0


def tree(value: Any, *, lossy: list[dict[str, str]], max_nodes: int) -> SafeString:
    """Give a `ul` of the value's members, the outermost level open."""
    budget = _Budget(nodes=max_nodes, lossy={str(row.get("path")): str(row.get("kind")) for row in lossy[:1_000]})
    if isinstance(value, (dict, list)) and value:
        return _members(value, path="$", depth=0, budget=budget)
    return format_html("<ul><li>{}</li></ul>", _scalar(value, path="$", budget=budget))


def _members(value: dict[str, Any] | list[Any], *, path: str, depth: int, budget: _Budget) -> SafeString:
    items: list[str] = []
    for key, child, child_path in _children(value, path):
        if not budget.take():
            items.append(format_html('<li class="soft">{}</li>', _more(len(value) - len(items))))
            break
        items.append(_node(key, child, path=child_path, depth=depth, budget=budget))
    return mark_safe(f"<ul>{''.join(items)}</ul>")  # safe: built from escaped pieces


def _children(value: dict[str, Any] | list[Any], path: str) -> Iterator[tuple[str, Any, str]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield key, child, f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"
    else:
        for index, child in enumerate(value):
            yield str(index), child, f"{path}[{index}]"


def _node(key: str, value: Any, *, path: str, depth: int, budget: _Budget) -> SafeString:
    name = format_html('<span class="key">{}</span> ', visible(_cut(key)))
    if not isinstance(value, (dict, list)) or not value or depth >= MAX_SHOWN_DEPTH:
        return format_html("<li>{}{}</li>", name, _scalar(value, path=path, budget=budget))
    summary = format_html('<summary>{}<span class="soft">{}</span></summary>', name, size_words(value))
    inner = _members(value, path=path, depth=depth + 1, budget=budget)
    opened = mark_safe(" open") if depth == 0 and len(value) <= 12 else ""
    return format_html("<li><details{}>{}{}</details></li>", opened, summary, inner)


def _scalar(value: Any, *, path: str, budget: _Budget) -> SafeString:
    kind = budget.lossy.get(path)
    shown = _scalar_shown(value)
    if kind is None:
        return shown
    note = _("was %(kind)s") % {"kind": kind}
    return format_html('<span class="lossy">{}</span> <span class="soft">{}</span>', shown, visible(note))


def _scalar_shown(value: Any) -> SafeString:
    if isinstance(value, Number):
        return format_html('<span class="number">{}</span>', visible(_cut(value)))
    if isinstance(value, str):
        return format_html('<span class="text">{}</span>', visible(_quoted(value)))
    if isinstance(value, dict):
        return format_html('<span class="soft">{}</span>', "{…}" if value else "{}")
    if isinstance(value, list):
        return format_html('<span class="soft">{}</span>', "[…]" if value else "[]")
    return format_html('<span class="word">{}</span>', json.dumps(value))


_ESCAPED = re.compile(r"\\\\|\\u00([01][0-9a-f])")


def _quoted(text: str) -> str:
    """In quotes as JSON has them; controls stay as they are, so that `visible` shows them as it does in output."""
    escaped = json.dumps(text[:MAX_TEXT_CHARS], ensure_ascii=False)
    quoted = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[0], escaped)
    left = len(text) - MAX_TEXT_CHARS
    return quoted if left <= 0 else f"{quoted}… " + _("and %(count)s more characters") % {"count": labels.count(left)}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else text[:MAX_TEXT_CHARS] + "…"


def size_words(value: Any) -> str:
    """How much a container holds: "object, 5 keys", "3 items"."""
    if isinstance(value, dict):
        return ngettext("object, %(count)s key", "object, %(count)s keys", len(value)) % {
            "count": labels.count(len(value))
        }
    return ngettext("%(count)s item", "%(count)s items", len(value)) % {"count": labels.count(len(value))}


def _more(count: int) -> str:
    return ngettext("%(count)s more, not shown", "%(count)s more, not shown", count) % {"count": labels.count(count)}
