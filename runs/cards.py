"""What a card shows of a run, read from its rows: plain values for the templates, bounded in number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.safestring import SafeString

from runs.card_calls import CARD_CALLS, PAGE_CALLS, CardCalls
from runs.card_head import Viewer
from runs.card_rows import VALUE_CHARS
from runs.faults import Line, Place, causes_of, place_of, positive, sentence_of
from runs.figures import figures
from runs.highlight import highlighted, language_of, lines_of
from runs.json_tree import parse, tree
from runs.printed import Chunk, printed
from runs.stored_words import said, words
from runs.visible import visible

__all__ = ["CARD_CALLS", "PAGE_CALLS", "Card", "Viewer"]

CARD_CODE_LINES = 60
CARD_NODES = 200
PAGE_CODE_LINES = 5_000
PAGE_NODES = 2_000
ENGINE_ERRORS = frozenset({"TypeError", "ReferenceError", "RangeError", "SyntaxError", "InternalError", "ToolError"})


@dataclass(kw_only=True)
class Card(CardCalls):
    """One run as one viewer sees it. Parts are read when a template asks for them."""

    # ── Value, output ───────────────────────────────────────────────────────────────────────────

    @property
    def has_value(self) -> bool:
        return self.value_chars is not None

    @cached_property
    def value_chars(self) -> int | None:
        chars = getattr(self.run, "value_chars", None)
        return int(chars) if chars is not None else None

    @cached_property
    def value_tree(self) -> SafeString | None:
        """The value as folding HTML; None when it is too large to show here."""
        text = self.run.value_json if self.viewer.full else getattr(self.run, "value_start", None)
        if text is None or (not self.viewer.full and (self.value_chars or 0) > VALUE_CHARS):
            return None
        try:
            return tree(parse(text), lossy=self.run.lossy, max_nodes=PAGE_NODES if self.viewer.full else CARD_NODES)
        except (ValueError, RecursionError):
            return None

    @property
    def printed_chars(self) -> int:
        return self.run.stdout_chars + self.run.stderr_chars

    @cached_property
    def output(self) -> list[Chunk]:
        return printed(self.run)

    @property
    def output_shown(self) -> int:
        return sum(len(chunk.text) for chunk in self.output)

    @property
    def cut_streams(self) -> set[str]:
        """The streams of which the card leaves something out."""
        return {chunk.stream for chunk in self.output if chunk.omitted}

    # ── Code and error ──────────────────────────────────────────────────────────────────────────

    @property
    def language(self) -> str:
        return language_of(self.run.tool)

    @cached_property
    def code(self) -> str:
        return self.run.code if self.viewer.full else getattr(self.run, "code_start", "") or ""

    @cached_property
    def code_lines(self) -> list[Line]:
        most = PAGE_CODE_LINES if self.viewer.full else CARD_CODE_LINES
        at = self.error_line
        return [
            Line(number=number, html=html, is_at=number == at)
            for number, html in enumerate(highlighted(self.code, self.language)[:most], start=1)
        ]

    @property
    def has_code(self) -> bool:
        return bool(self.code)

    @property
    def code_is_cut(self) -> bool:
        chars = getattr(self.run, "code_chars", None) or len(self.code)
        return chars > len(self.code) or len(lines_of(self.code)) > len(self.code_lines)

    @property
    def error(self) -> dict[str, Any] | None:
        return self.run.error if isinstance(self.run.error, dict) else None

    @property
    def error_line(self) -> int | None:
        return positive(self.error, "line")

    @cached_property
    def place(self) -> Place | None:
        """The failing line among its neighbours, with a caret under the column."""
        return place_of(self.error, code=self.code, language=self.language)

    @property
    def causes(self) -> list[str]:
        """What led to the error, without what its own sentence says already."""
        return [cause for cause in causes_of(self.error) if cause not in self.fault_message]

    @property
    def fault_message(self) -> str:
        return sentence_of(self.error)

    @property
    def fault_words(self) -> SafeString:
        """The error's sentence. What the script itself threw may be in any language."""
        is_ours = str((self.error or {}).get("name") or "") in ENGINE_ERRORS or not self.error_is_thrown
        return words(self.fault_message) if is_ours else said(self.fault_message)

    @property
    def error_is_thrown(self) -> bool:
        return (self.error or {}).get("code") in ("SCRIPT_ERROR", "UNHANDLED_REJECTION")

    @property
    def stack(self) -> str:
        stack = (self.error or {}).get("stack")
        return "\n".join(map(str, stack[:100])) if isinstance(stack, list) else str(stack or "")[:20_000]

    @property
    def hint(self) -> str:
        return str((self.error or {}).get("hint") or self.run.hint or "")

    # ── The run's own page ──────────────────────────────────────────────────────────────────────

    @property
    def figures(self) -> list[tuple[str, str]]:
        return figures(self.run)

    @property
    def args_tree(self) -> SafeString:
        try:
            return tree(parse(self.run.args_json), lossy=[], max_nodes=PAGE_NODES)
        except (ValueError, RecursionError):
            return visible(self.run.args_json[:1_000])

    @property
    def controls(self) -> list[tuple[str, dict[str, Any]]]:
        rows = self.run.controls if isinstance(self.run.controls, dict) else {}
        return [(name, control) for name, control in rows.items() if isinstance(control, dict)]

    @property
    def controls_observed(self) -> bool:
        return any(control.get("observed") for _name, control in self.controls)
