"""Making every character of hostile text visible: controls, escapes, bidi marks, lone surrogates."""

from __future__ import annotations

import re

from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe

# Everything a terminal or a browser would act on instead of showing. Tab and newline stay as they are,
# and so does U+200D, which joins emoji.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u180e\u200b\u200c\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


_C0 = [
    "NUL",
    "SOH",
    "STX",
    "ETX",
    "EOT",
    "ENQ",
    "ACK",
    "BEL",
    "BS",
    "HT",
    "LF",
    "VT",
    "FF",
    "CR",
    "SO",
    "SI",
    "DLE",
    "DC1",
    "DC2",
    "DC3",
    "DC4",
    "NAK",
    "SYN",
    "ETB",
    "CAN",
    "EM",
    "SUB",
    "ESC",
    "FS",
    "GS",
    "RS",
    "US",
]


def name_of(char: str) -> str:
    """A printable stand-in: the control's own short name, else its number.

    NUL and lone surrogates look as they do in stored output, which holds them as these escapes.
    """
    code = ord(char)
    if code == 0 or 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    return _C0[code] if code < len(_C0) else "DEL" if code == 0x7F else f"U+{code:04X}"


def _marked(match: re.Match[str]) -> str:
    char = match.group()
    return f'<span class="hidden-char" title="U+{ord(char):04X}">{name_of(char)}</span>'


def visible(text: object) -> SafeString:
    """Escape text for HTML and show what would stay unseen; a SafeString's markup is kept."""
    escaped = conditional_escape(text) if isinstance(text, SafeString) else escape(str(text))
    return mark_safe(_HIDDEN.sub(_marked, escaped))  # safe: escaped just above; the marks are ours


def plain(text: str) -> str:
    """The same for places that take no markup: attributes and titles."""
    return _HIDDEN.sub(lambda match: name_of(match.group()), text)
