"""Scripts to start from. They work as they stand, in any workspace with a few text files."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy


@dataclass(frozen=True, kw_only=True)
class Example:
    name: str
    label: Promise
    title: Promise
    code: str


FAN_OUT = """\
const { entries } = await tools.list_files({ glob: "**/*", limit: 200 });
const files = entries.filter((entry) => entry.type === "file" && entry.bytes < 200_000).slice(0, 30);
let done = 0;
const sizes = await Promise.all(files.map(async (file) => {
  const { text } = await tools.read_file({ path: file.path });
  done += 1;
  progress({ note: file.path, completed: done, total: files.length });
  return { path: file.path, lines: typeof text === "string" ? text.split("\\n").length : 0 };
}));
console.log(`read ${sizes.length} files`);
return sizes.sort((a, b) => b.lines - a.lines).slice(0, 10);
"""

PAGINATE = """\
// Asks for a page of matches per file, so that a large workspace never comes back at once.
const query = args.query ?? "the";
const { entries } = await tools.list_files({ glob: "**/*", limit: 500 });
const files = entries.filter((entry) => entry.type === "file").slice(0, 20);
const found = [];
for (const [index, file] of files.entries()) {
  const page = await tools.search_text({ query, path: file.path, limit: 20 });
  found.push(...page.matches.map((match) => `${match.path}:${match.line}`));
  if (page.truncated) console.warn(`${file.path}: more than 20 matches`);
  progress({ note: file.path, completed: index + 1, total: files.length });
}
return { query, matches: found.length, first: found.slice(0, 20) };
"""

STATE = """\
// `state` is kept between the runs of this session when the run succeeds. Run it twice.
const { entries } = await tools.list_files({});
const now = entries.map((entry) => entry.path);
const before = state.seen ?? [];
state.runs = (state.runs ?? 0) + 1;
state.seen = now;
return { run: state.runs, added: now.filter((path) => !before.includes(path)) };
"""

EXAMPLES = (
    Example(
        name="fan-out", label=gettext_lazy("Read many files at once"), title=gettext_lazy("Longest files"), code=FAN_OUT
    ),
    Example(
        name="paginate",
        label=gettext_lazy("Page through a search"),
        title=gettext_lazy("Where a word stands"),
        code=PAGINATE,
    ),
    Example(
        name="state",
        label=gettext_lazy("Keep state between runs"),
        title=gettext_lazy("What is new since last time"),
        code=STATE,
    ),
)


def example_named(name: str) -> Example | None:
    return next((example for example in EXAMPLES if example.name == name), None)
