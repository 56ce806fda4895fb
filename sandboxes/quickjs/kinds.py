"""What a text that is not JavaScript probably is: shell, Python, SQL, TypeScript, prose.

Asked only after the engine has refused a script or the script has failed on its first name, so a wrong guess changes a
hint, never whether a script runs.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["shell", "python", "sql", "typescript", "html", "json", "prose"]

FENCE_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("python", "py", "python3", "ipython"), "python"),
    **dict.fromkeys(("sh", "bash", "shell", "zsh", "console", "powershell", "bat"), "shell"),
    **dict.fromkeys(("sql", "sqlite", "postgresql"), "sql"),
    **dict.fromkeys(("html", "xml"), "html"),
}

_HINTS: dict[Kind, str] = {
    "shell": (
        "This looks like a shell command. js_run takes JavaScript and has no shell: call a tool instead, "
        "for example `return await tools.call('list_files', {})`."
    ),
    "python": "This looks like Python. js_run takes JavaScript: write it in JavaScript.",
    "sql": "This looks like SQL. js_run takes JavaScript: call a tool that takes the query.",
    "typescript": "Send plain JavaScript: remove type annotations.",
    "html": "This looks like HTML. js_run takes JavaScript: put markup inside a string.",
    "json": "This is data, not a script. Write `return` before it, or pass it as args.",
    "prose": "This looks like prose. js_run takes only JavaScript: send the code alone, without the text around it.",
}

# The commands people and models type first; each must be followed by what a command line looks like.
_COMMANDS = (
    "ls|cd|pwd|cat|echo|grep|rg|find|curl|wget|git|npm|npx|node|pip|pip3|python|python3|mkdir|rm|cp|mv|touch|chmod|chown|sudo|"
    "docker|make|tar|ssh|scp|sed|awk|head|tail|wc|ps|kill|source|which|man|du|df|env|apt|apt-get|brew|yarn|uname|whoami|date"
)
_SHELL = (
    re.compile(rf"(?:\$\s+)?(?:{_COMMANDS})(?:\s+[-\w./~*'\"$@:{{}}]+.*)?$"),
    re.compile(r"#!\s*/\S*(?:sh|bash|zsh)\b"),
    re.compile(r"export\s+[A-Za-z_]\w*="),
)
_PYTHON = (
    re.compile(r"(?:from\s+[\w.]+\s+)?import\s+[\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*\s*$"),
    re.compile(r"(?:async\s+)?def\s+\w+\s*\(.*"),
    re.compile(r"(?:if|elif|while|for|with|try|except|class|else|finally)\b[^{]*:\s*(?:#.*)?$"),
    re.compile(r"print\s*\(.*\)\s*$"),
    re.compile(r"(?:pass|raise\s+\w+.*|lambda\b.*|assert\s+[^(].*|del\s+\w+|None|True|False)\s*$"),
    re.compile(r"\w+\s*=\s*(?:None|True|False|f[\"'].*|\[.*\bfor\b.*\bin\b.*\])\s*$"),
    re.compile(r"#\s.*$"),
)
_SQL = re.compile(
    r"(?:SELECT\s+.+|INSERT\s+INTO\s.+|UPDATE\s+\w+\s+SET\s.+|DELETE\s+FROM\s.+|CREATE\s+TABLE\s.+|WITH\s+\w+\s+AS\s*\(.*)$",
    re.IGNORECASE,
)
_TYPESCRIPT = (
    re.compile(r"\s*(?:export\s+)?(?:interface|declare|namespace|abstract\s+class|(?:const\s+)?enum)\s+\w+"),
    re.compile(r"\s*(?:export\s+)?type\s+\w+(?:<[^>]*>)?\s*="),
    re.compile(r"\s*(?:const|let|var)\s+[\w$]+\s*!?:\s*[\w$.<>\[\]{}|& ,'\"()=>]+=(?!=|>)"),
    re.compile(
        r".*[(,]\s*(?:\.\.\.)?[\w$]+\??\s*:\s*"
        r"(?:string|number|boolean|any|unknown|void|never|object|Array<|Record<|Promise<|[A-Z][\w$.]*(?:<[^>]*>)?(?:\[\])?)"
        r"\s*[,)=\[|]"
    ),
    re.compile(r"[^?]*\)\s*:\s*[\w$.<>\[\]| {}]+\s*(?:=>|\{)\s*"),
    re.compile(r".*\b(?:as|satisfies)\s+(?:const|string|number|boolean|any|unknown|[A-Z][\w$.]*)\b"),
    re.compile(r".*[\w$]<[\w$.,<> \[\]|]+>\s*\("),
    re.compile(r"\s*import\s+type\b"),
    re.compile(r".*[\w$)\]]!(?:\.|\[|;|$)"),
)
_HTML = re.compile(r"<(?:!doctype|html|head|body|div|p|span|table|svg|script|\?xml)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_WORDS_APART = re.compile(r"\w[\w'’]*[,.;:!?]*\s+\w")
_CODE_MARKS = re.compile(r"[;{}=\[\]<>]|=>|\w\(|\)\s*\.")
_KEYWORDS = frozenset(
    [
        "return",
        "const",
        "let",
        "var",
        "if",
        "for",
        "while",
        "do",
        "switch",
        "try",
        "throw",
        "function",
        "async",
        "await",
        "class",
        "new",
        "typeof",
        "delete",
        "void",
        "import",
        "export",
        "yield",
        "break",
        "continue",
        "debugger",
        "else",
        "in",
        "of",
        "this",
        "super",
        "case",
        "default",
    ]
)
_MAX_LOOKED_AT = 400


def refusal_hint(kind: Kind) -> str:
    """Say what the text looks like and what to send instead."""
    return _HINTS[kind]


def guess_kind(code: str, *, line: str | None = None) -> Kind | None:
    """Say what the text is when it is not JavaScript in kind; `line` is the line the engine stumbled over."""
    first = next((text.strip() for text in code.split("\n", 200) if text.strip()), "")[:_MAX_LOOKED_AT]
    stumbled = (line or "").strip()[:_MAX_LOOKED_AT]
    if is_typescript(stumbled) or is_typescript(first):
        return "typescript"
    return _foreign(first) or (_foreign(stumbled, prose=False) if stumbled != first else None)


def is_typescript(line: str) -> bool:
    """Does the line hold what only TypeScript has: an annotation, an interface, a cast?"""
    return any(pattern.match(line[:_MAX_LOOKED_AT]) is not None for pattern in _TYPESCRIPT)


def _foreign(line: str, *, prose: bool = True) -> Kind | None:
    if any(pattern.match(line) for pattern in _PYTHON):
        return "python"
    if _SQL.match(line):
        return "sql"
    if any(pattern.match(line) for pattern in _SHELL):
        return "shell"
    if _HTML.match(line):
        return "html"
    if line[:1] in "{[" and line[:1] and re.match(r"[\[{]\s*(?:\"|$|\[|\{)", line):
        return "json"
    return "prose" if prose and _is_prose(line) else None


def _is_prose(line: str) -> bool:
    """A lone word, or several and hardly anything a program is made of; or Markdown."""
    if re.match(r"(?:#{1,6}\s|[-*]\s+\w|>\s|```)", line):
        return True
    words = _WORD.findall(line)
    if not words or words[0] in _KEYWORDS:
        return False
    if re.fullmatch(r"\w+[.!?]?", line):
        return True
    if _WORDS_APART.search(line) is None or line.startswith(("//", "/*")):
        return False
    return _CODE_MARKS.search(line.rstrip(".!?:")) is None
