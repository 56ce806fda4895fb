"""One hint for each way a script commonly fails: what to do next, in a sentence a model can act on."""

from __future__ import annotations

import re
from collections.abc import Callable

_TOOLS_HINT = "Files and the network are reached through tools: `tools.list()` names them."
_NO_TIMERS = "There are no timers and no pauses in js_run: leave the wait out, and await the tool call itself."
_NO_FETCH = f"A script has no network. {_TOOLS_HINT}"
_NO_NODE = (
    f"There is no Node.js here: no modules, no files, no environment. {_TOOLS_HINT} "
    "`args` holds what the caller passed."
)

ABSENT: dict[str, str] = {
    **dict.fromkeys(
        (
            "setTimeout",
            "setInterval",
            "setImmediate",
            "clearTimeout",
            "clearInterval",
            "requestAnimationFrame",
            "sleep",
        ),
        _NO_TIMERS,
    ),
    **dict.fromkeys(
        ("fetch", "XMLHttpRequest", "WebSocket", "EventSource", "axios", "Request", "Response", "Headers"), _NO_FETCH
    ),
    **dict.fromkeys(
        ("require", "process", "module", "exports", "__dirname", "__filename", "fs", "path", "os", "global"), _NO_NODE
    ),
    **dict.fromkeys(
        ("window", "document", "self", "navigator", "location", "alert", "localStorage"),
        "There is no browser here: no page, no DOM. Return the value or print it with console.log.",
    ),
    "Intl": "There is no Intl: format numbers and dates by hand.",
    "Buffer": "There is no Buffer: use Uint8Array with TextEncoder/TextDecoder, atob/btoa for base64.",
    "performance": "There is no performance clock: `Date.now()` stands still between calls.",
    "crypto": "There is no crypto: let a tool make what must be unique or secret; Math.random repeats with its seed.",
    "Atomics": "There are no threads: run calls in parallel with Promise.all.",
    "Worker": "There are no threads: run calls in parallel with Promise.all.",
    "WebAssembly": "WebAssembly is not available inside a script.",
    "state": "`state` is switched off here: return what you want to keep.",
    "Deno": _NO_NODE,
    "Bun": _NO_NODE,
    "print": "Print with console.log; give the result with return.",
    "input": "There is no input: what the caller passed is in `args`.",
    "None": "This looks like Python: write null.",
    "True": "This looks like Python: write true.",
    "False": "This looks like Python: write false.",
}

_GLOBALS = (
    "Beyond the language itself there are: tools, progress, state, args, console, structuredClone, TextEncoder, "
    "TextDecoder, atob, btoa, URL, URLSearchParams."
)

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def _undefined_name(found: re.Match[str]) -> str:
    name = found.group(1)
    return ABSENT.get(name) or f"`{name}` was never declared. {_GLOBALS}"


def _no_property(found: re.Match[str]) -> str:
    what, base = found.group(1), found.group(2)
    if what == "Symbol.iterator":
        return f"What is looped over or taken apart is {base}: print it with console.log."
    return f"The value before `.{what}` is {base}: print it with console.log, or read it with `?.{what}`."


_RUNTIME: tuple[_Rule, ...] = (
    (re.compile(r"'?([\w$]+)'? is not defined"), _undefined_name),
    (re.compile(r"[Cc]annot read propert(?:y|ies)(?: '?([^' ]+)'?)? of (undefined|null)"), _no_property),
    (
        re.compile(r"[Cc]annot set property '?([^' ]+)'? of (undefined|null)"),
        lambda m: f"The value before `.{m.group(1)}` is {m.group(2)}: create the object first.",
    ),
    (
        re.compile(r"'?([\w$]+)'? is read-only"),
        lambda m: f"`{m.group(1)}` was declared with const or is fixed here: use let, or another name.",
    ),
    (
        re.compile(r"([\w$]+) is not initialized"),
        lambda m: "A let or const is used before the line that declares it: move the declaration up.",
    ),
    (
        re.compile(r"not an object|not a constructor"),
        lambda m: "Check what the value is with console.log(typeof value, value).",
    ),
    (
        re.compile(r"(?:.*\b)?(?:is )?not iterable"),
        lambda m: (
            "Only arrays, strings, Maps and Sets can be looped over: a tool's list is one of its result's keys, "
            "and a promise needs its await."
        ),
    ),
    (
        re.compile(r"(?:circular reference|.*circular)"),
        lambda m: "The object contains itself: build plain data without the link back.",
    ),
    (
        re.compile(
            r"[Ii]nvalid (?:array )?length|invalid array buffer length|array (?:buffer )?(?:is )?too (?:large|big)"
        ),
        lambda m: "The length is negative or beyond what fits in memory.",
    ),
    (
        re.compile(r"string too long|invalid repeat count"),
        lambda m: "The text grows beyond what a string holds: build less, or print it piece by piece.",
    ),
    (
        re.compile(r"no private field|invalid brand"),
        lambda m: "The method was taken off its object: call it as object.method().",
    ),
    (re.compile(r"divi(?:de|sion) by zero"), lambda m: "A BigInt was divided by zero: check the divisor first."),
    (
        re.compile(r"cannot convert (?:to )?(?:bigint|BigInt)|cannot (?:mix|convert) bigint"),
        lambda m: "BigInt and Number do not mix: convert one of them with Number(x) or BigInt(x).",
    ),
)

_JSON_ERROR = re.compile(
    r".*\b(?:JSON|json)\b|unexpected (?:token|character|end of)|unterminated|bad (?:escape|control)|expecting",
    re.IGNORECASE,
)

_AWAIT_MEMBER = re.compile(r"(?<!\()\bawait\s+tools\b[^;]*\)\s*\.\w")
_AWAIT = re.compile(r"\bawait\b")
_IMPORT = re.compile(r"^\s*import\b")
_EXPORT = re.compile(r"^\s*export\b")


def is_absent_name(message: str) -> bool:
    """Is it about a name that other engines have and this one does not?"""
    return message.endswith(" is not defined") and message.split(" ", 1)[0] in ABSENT


def runtime_hint(*, name: str, message: str, line: str | None, column: int | None = None) -> str | None:
    """Say what to do about an error that was thrown while the script ran; None when nothing better is known."""
    if name == "SyntaxError" and _JSON_ERROR.match(message) and (line is None or "parse" in line or "JSON" in line):
        return (
            "The text is not JSON: look at its first characters with console.log(text.slice(0, 200)) before parsing it."
        )
    if name == "SyntaxError" and line is not None and "RegExp" in line:
        return "The pattern is not a valid regular expression: escape special characters."
    if (
        "could not load module" in message
        or "module loader" in message
        or (line is not None and re.search(r"\bimport\s*\(", line) and "module" in message.lower())
    ):
        return f"There are no modules to import. {_TOOLS_HINT}"
    if name == "TypeError" and message == "not a function":
        return _no_function(_callee(line, column))
    if line is not None and message.startswith("cannot read") and _AWAIT_MEMBER.search(line):
        return (
            "`await` takes the whole expression: write `(await tools.call(…)).key`, or keep the result in a variable."
        )
    if name not in ("ReferenceError", "TypeError", "RangeError", "InternalError"):
        return None
    return next((hint(found) for pattern, hint in _RUNTIME if (found := pattern.match(message))), None)


def _callee(line: str | None, column: int | None) -> str | None:
    """Give what was called, read from the line: the engine names only a column near it."""
    if line is None or column is None:
        return None
    before, after = line[: column - 1], line[column - 1 :]
    if (inside := re.search(r"[\w$][\w$.\])\[(]*(?=\($)", before)) is not None:
        return inside.group()[-80:]
    if (called := re.match(r"[\w$]+(?:\.[\w$]+)*(?=\s*\()", after)) is None:
        return None
    owner = re.search(r"(?:[\w$]+(?:\(\))?\.)*$", before)
    return ((owner.group() if owner else "") + called.group())[-80:]


def _no_function(callee: str | None) -> str:
    what = f"`{callee}`" if callee else "What is called"
    return f"{what} is no function: check the name, and whether a promise before it lacks its await."


def syntax_hint(*, message: str, line: str | None) -> str | None:
    """Say what to do about code the engine could not read; `line` is the submitted line it names."""
    text = line or ""
    if _IMPORT.match(text):
        return f"There are no modules to import. {_TOOLS_HINT}"
    if _EXPORT.match(text):
        return "The code is the body of an async function: remove export and end with return."
    if _AWAIT.search(text) or "await" in message:
        return (
            "`await` needs an async function: write `async` before the function that holds this line, "
            "and await it where it is called."
        )
    if "unexpected end of the code" in message:
        return "The code ends too early: a bracket, brace or parenthesis is not closed, or one is closed twice."
    if "unexpected end of string" in message or "template" in message:
        return "A string or template is not closed: check its quotes."
    if "redefinition" in message or "redeclaration" in message:
        return "The name is declared twice in the same scope: rename one of them."
    if "regular expression" in message or "regexp" in message.lower():
        return "The regular expression is not valid: escape special characters, or build it with new RegExp."
    if (
        "expecting ';'" in message
        or "unexpected token" in message.lower()
        or "unexpected identifier" in message.lower()
    ):
        return (
            "Something is missing or too much just before the marked column: an operator, a comma, a bracket, a quote."
        )
    return None
