"""Every word has its Spanish."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext

from runs import labels
from runs.hint_words import HINTS
from runs.models import NestedCall, Run
from sandboxes import errors

CATALOGUE = Path(settings.BASE_DIR) / "forja_site" / "locale" / "es" / "LC_MESSAGES"


def test_no_message_is_left_untranslated():
    text = (CATALOGUE / "django.po").read_text(encoding="utf-8")
    empty = [block for block in text.split("\n\n")[1:] if re.search(r'^msgstr(\[\d\])? ""$', block, re.MULTILINE)]
    assert empty == []
    assert "fuzzy" not in text


def test_the_compiled_catalogue_is_the_written_one(tmp_path):
    import shutil
    import subprocess

    import pytest

    if shutil.which("msgfmt") is None:
        pytest.skip("msgfmt (gettext) is not installed: the compiled catalogue cannot be compared")
    made = tmp_path / "django.mo"
    subprocess.run(["msgfmt", "-o", str(made), str(CATALOGUE / "django.po")], check=True, capture_output=True)
    assert made.read_bytes() == (CATALOGUE / "django.mo").read_bytes()


def test_every_default_hint_is_among_the_words():
    hints = {cls.default_hint for cls in errors.all_errors().values()}
    assert hints <= set(HINTS)
    with translation.override("es"):
        assert [hint for hint in HINTS if gettext(hint) == hint and not hint.startswith("Send `Content")] == []


def test_every_status_has_a_word():
    assert set(labels.STATUS) == set(Run.Status.values)
    assert set(labels.CALL_STATUS) == set(NestedCall.Status.values)


def test_every_code_a_run_or_call_can_end_with_has_a_sentence():
    without = {"UNAUTHENTICATED", "ALREADY_FINISHED", "UNSUPPORTED_MEDIA_TYPE", "RATE_LIMITED"}
    assert set(errors.all_errors()) - without == set(labels.CODE)


def test_figures_follow_the_language():
    assert [labels.duration(ms) for ms in (0.4, 93, 1_940, 61_000, 7_260_000)] == [
        "0.4 ms",
        "93 ms",
        "1.9 s",
        "1 min 1 s",
        "2 h 1 min",
    ]
    assert [labels.size(size) for size in (1, 900, 2_048, 40_000, 3 * 2**20, 2**31)] == [
        "1 byte",
        "900 bytes",
        "2.0 KiB",
        "39 KiB",
        "3.0 MiB",
        "2.0 GiB",
    ]
    with translation.override("es"):
        assert labels.duration(1_940) == "1,9 s"
        assert labels.count(49_312_044).replace("\xa0", " ") == "49 312 044"
