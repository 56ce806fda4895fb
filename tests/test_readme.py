"""The README and the code say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from forja_site.config import SETTINGS
from sandboxes.errors import all_errors

README = (Path(__file__).resolve().parent.parent / "README.md").read_text()


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_it_names_every_setting_with_its_meaning(setting):
    (row,) = [line for line in README.splitlines() if line.startswith(f"| `{setting.key}` |")]
    assert setting.help in row
    if setting.maximum is not None:
        assert f"{setting.maximum:,}" in row
    assert ("global only" in row) != setting.project


@pytest.mark.parametrize("code", sorted(all_errors()))
def test_it_names_every_error_code_with_its_hint(code):
    (row,) = [line for line in README.splitlines() if line.startswith(f"| `{code}` |")]
    assert all_errors()[code].default_hint in row


def test_it_has_no_gaps():
    assert "@@" not in README


def test_its_first_script_runs(live_forja):
    script = README.split("```js\n")[1].split("```")[0]
    run = live_forja.run(script)
    assert run["status"] == "succeeded", run["error"]
    assert len(run["value"]) >= 2 and all(count >= 1 for count in run["value"].values())
    assert run["progress"]["completed"] == run["progress"]["total"] == len(run["value"])
