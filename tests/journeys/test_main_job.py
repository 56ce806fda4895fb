"""The main job: from the printed link to a value, watching the calls."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

FILES = {f"src/module_{number}.py": f"import json\nimport mod_{number}\n" * (number + 1) for number in range(12)}
READ_ALL = """\
const { entries } = await tools.list_files({ path: "src", glob: "*.py" });
let done = 0;
const sizes = await Promise.all(entries.map(async ({ path }) => {
  const { text } = await tools.read_file({ path });
  await tools.fx_sleep({ ms: 150 });
  progress({ note: path, completed: ++done, total: entries.length });
  console.log(`read ${path}`);
  return text.length;
}));
return { files: sizes.length, characters: sizes.reduce((a, b) => a + b, 0) };
"""


@pytest.fixture
def files(live_forja):
    folder = live_forja.home / "workspace"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)


def test_a_script_reads_files_in_parallel_and_its_calls_are_watched_to_the_value(person, files):
    card = person.runs(READ_ALL, "Read all")
    person.sees_status(card, "Running")
    expect(card.locator(".badge")).to_have_text(re.compile("QuickJS,\\s*isolated"))
    calls = card.locator(".call")
    expect(calls.filter(has_text="fx_sleep").locator("visible=true").first).to_be_visible()
    expect(card.locator('.call[data-status="running"]').first).to_be_visible()
    expect(card.locator("progress")).to_be_visible()
    expect(person.part(card, "Output")).to_contain_text("read src/module_0.py")
    person.sees_the_end(card)
    person.sees_status(card, "Succeeded")
    expect(calls).to_have_count(25)
    expect(calls.first).to_contain_text("list_files")
    expect(person.part(card, "Calls").locator("svg.lanes")).to_be_visible()
    value = person.part(card, "Value")
    expect(value).to_contain_text("files 12")
    expect(value).to_contain_text(f"characters {sum(map(len, FILES.values()))}")
    assert person.part(card, "Output").locator("samp").all_inner_texts()
    printed = "".join(person.part(card, "Output").locator("samp").all_text_contents())
    assert sorted(printed.splitlines()) == sorted(f"read {path}" for path in FILES)


@pytest.mark.parametrize("example", ["Read many files at once", "Page through a search", "Keep state between runs"])
def test_every_example_works_as_it_stands(person, files, example):
    person.page.locator("#composer-examples summary").click()
    person.page.locator("#composer-examples").get_by_role("link", name=example).click()
    person.is_live()
    title = person.page.get_by_label("Title").input_value()
    person.page.get_by_label("Code, JavaScript").press("Control+Enter")
    card = person.card(title)
    person.sees_the_end(card)
    person.sees_status(card, "Succeeded")
    expect(person.part(card, "Value").locator(".json li").first).to_be_visible()


def test_what_was_written_stays_in_the_composer_and_the_run_has_a_page_of_its_own(person):
    card = person.runs("return [1, 2, 3].map((n) => n * args.times)", "Times")
    person.sees_the_end(card)
    assert "args.times" in person.page.get_by_label("Code, JavaScript").input_value()
    person.page.locator("#composer-limits summary").click()
    person.page.get_by_label("Arguments, JSON").fill('{"times": 7}')
    second = person.runs("return [1, 2, 3].map((n) => n * args.times)", "Times seven")
    person.sees_the_end(second)
    expect(person.part(second, "Value")).to_contain_text("21")
    second.get_by_role("link", name="Times seven").click()
    expect(person.page.get_by_role("heading", name="Times seven", level=1)).to_be_visible()
    person.page.goto(person.page.url + "#L1")
    expect(person.page.locator("#L1:target")).to_be_visible()
    expect(person.page.locator("#limits")).to_contain_text("forge.javascript.timeoutMs")
    expect(person.page.locator("#controls")).to_contain_text("Network")


def test_a_mistake_in_the_form_is_said_beside_its_field_and_the_script_stays(person):
    person.page.locator("#composer-limits summary").click()
    person.page.get_by_label("Arguments, JSON").fill("{")
    person.page.get_by_label("Code, JavaScript").fill("return 1")
    person.page.get_by_role("button", name="Run", exact=False).first.click()
    expect(person.page.locator("#run-args-error")).to_contain_text("Write a JSON object")
    assert person.page.get_by_label("Code, JavaScript").input_value() == "return 1"
    # Chromium notes every refused request in the console; this one was the point.
    person.complaints[:] = [words for words in person.complaints if "422" not in words]


def test_a_run_asked_for_by_a_program_appears_on_the_open_page(person, live_forja):
    session = person.page.url.rstrip("/").rpartition("/")[2]
    live_forja.run("console.log('hello'); return 'from afar'", session=session, title="Afar")
    card = person.card("Afar")
    expect(card).to_contain_text("from afar")
    expect(card).to_contain_text("asked for through the API")
