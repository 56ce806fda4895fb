"""Reading stored output: head and tail within the caller's budget, and where the whole text lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runs.models import Run
from runs.streams import path_of

STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, kw_only=True)
class OutputParts:
    """`head` and `tail` of a stream of `chars` characters; `omitted` lie between them."""

    head: str
    tail: str
    chars: int
    omitted: int

    @property
    def text(self) -> str:
        if not self.omitted or not (self.head or self.tail):
            # With no room for any of it there is none for the remark either; the count stands beside the text.
            return self.head + self.tail
        return f"{self.head}{_omission(self.omitted)}{self.tail}"


def output_parts(run: Run, stream: str, budget: int | None = None) -> OutputParts:
    """Cut a stream to `budget` characters (None: all that the row keeps), the same amount from each end."""
    head, tail = getattr(run, f"{stream}_head"), getattr(run, f"{stream}_tail")
    chars = getattr(run, f"{stream}_chars")
    if budget is not None and chars > budget:
        head, tail = _ends(head + tail, budget, chars=chars)
    return OutputParts(head=head, tail=tail, chars=chars, omitted=max(0, chars - len(head) - len(tail)))


def _ends(kept: str, budget: int, *, chars: int) -> tuple[str, str]:
    """Both ends of a text of `chars` characters, so long that they and the count between them fill the budget."""
    room = max(0, budget - len(_omission(chars)))
    first, last = room - room // 2, room // 2
    return kept[:first], kept[len(kept) - last :]


def _omission(chars: int) -> str:
    return f"\n[{chars:,} characters omitted]\n"


def text_for_model(run: Run) -> tuple[str, str, str]:
    """Value, stdout and stderr as a model gets them: together at most `maxOutputChars`, ends kept."""
    total = int(run.limits.get("maxOutputChars", 16_000))
    value = run.value_json or ""
    if len(value) > total:
        head, tail = _ends(value, total, chars=len(value))
        value = OutputParts(head=head, tail=tail, chars=len(value), omitted=len(value) - len(head) - len(tail)).text
    left = budgets(run)
    return value, output_parts(run, "stdout", left["stdout"]).text, output_parts(run, "stderr", left["stderr"]).text


def budgets(run: Run) -> dict[str, int]:
    """Share what the value left of `maxOutputChars` between the streams: stderr first, at most a quarter."""
    total = int(run.limits.get("maxOutputChars", 16_000))
    left = max(0, total - len(run.value_json or ""))
    stderr = min(run.stderr_chars, max(left // 4, left - run.stdout_chars))
    return {"stderr": stderr, "stdout": left - stderr}


def whole_text_path(run: Run, stream: str) -> Path | None:
    """The file with the whole text (up to the stored cap), or None when the row holds it all."""
    path = path_of(run.id, stream)
    return path if path.exists() else None
