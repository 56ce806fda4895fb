"""Making a failure's text fit to be told and stored: no host paths, no secrets, no characters that break things."""

from __future__ import annotations

import re

MAX_SHOWN_CHARS = 300
MAX_READ_CHARS = 4000

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # user:password@ in a URL
    (re.compile(r"(?<=://)[^\s/@]{1,200}@"), "<secret>@"),
    # name=value, "name": "value" and `Bearer value`
    (
        re.compile(
            r"(?i)\b((?:[a-z0-9_-]{0,40}(?:token|secret|passw(?:or)?d|api[_-]?key|credential|authorization))"
            r"[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?:(?:bearer|basic)\s+)?|bearer\s+)[^\s\"',;]+"
        ),
        r"\1<secret>",
    ),
    # keys by their usual prefixes, JSON web tokens
    (re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[a-z]|hf|AKIA|ASIA)[-_A-Za-z0-9]{10,}"), "<secret>"),
    (re.compile(r"\bey[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"), "<secret>"),
    # anything long that mixes letters and digits as keys do
    (re.compile(r"\b(?=[A-Za-z_-]{0,60}\d)(?=[\d_-]{0,60}[A-Za-z])[A-Za-z0-9_-]{24,}={0,2}"), "<secret>"),
    # absolute paths, of both kinds
    (re.compile(r"(?<![\w.:/<])(?:file://)?/(?:[^\s\"'`<>|:;,()\[\]{}]+)"), "<path>"),
    (re.compile(r"(?i)\b[a-z]:\\[^\s\"'`<>|;,()]+|\\\\[^\s\"'`<>|;,()]+"), "<path>"),
)


_UNFIT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


def fit(text: str, max_chars: int = MAX_SHOWN_CHARS) -> str:
    r"""Cut somebody's text for an error's words, and write as `\uXXXX` what a database or an encoder would refuse:
    controls and halves of surrogate pairs.
    """
    cut = text if len(text) <= max_chars else text[: max_chars - 1] + "…"
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", cut)


def mask(text: str) -> str:
    """Give the text on one line, at most 300 characters, with paths and secrets replaced."""
    # Long texts are cut first: no rule is worth running over megabytes of somebody's page.
    line = " ".join(text[:MAX_READ_CHARS].split())
    for pattern, replacement in _RULES:
        line = pattern.sub(replacement, line)
    return fit(line)
