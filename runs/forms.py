"""What a person fills in: a script to run, a session to open, a sign-in token."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from django import forms
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from forja_site.config import Config
from runs.requests import MAX_TITLE_CHARS, RunRequest, parse_run_request
from runs.stored_words import words
from sandboxes.errors import ConfigInvalid, ForjaError

FIELD_OF = {
    "code": "code",
    "codePath": "code",
    "title": "title",
    "args": "args",
    "timeoutMs": "seconds",
    "maxToolCalls": "calls",
}
"""Which input shows an error about a field of the request."""


def words_of(error: ForjaError) -> SafeString:
    """An error as one paragraph: what was wrong, then what to do; what is on the page already is not said again."""
    told = (
        [error.message]
        if isinstance(error, ConfigInvalid) or error.hint == error.message
        else [error.message, error.hint]
    )
    return format_html_join(" ", "{}", ((words(text),) for text in told if text))


class RunForm(forms.Form):
    """The composer. Empty limits keep those in force."""

    title = forms.CharField(required=False, max_length=MAX_TITLE_CHARS)
    code = forms.CharField(strip=False, error_messages={"required": gettext_lazy("Write a script first.")})
    seconds = forms.FloatField(
        required=False,
        min_value=0.001,
        error_messages={"invalid": gettext_lazy("Give the time as a number of seconds, such as 30.")},
    )
    calls = forms.IntegerField(
        required=False,
        min_value=1,
        error_messages={"invalid": gettext_lazy("Give a whole number of calls, such as 50.")},
    )
    args = forms.CharField(required=False)

    @property
    def limits_open(self) -> bool:
        """Whether the folded part holds something to look at."""
        return any(self.errors.get(name) for name in ("seconds", "calls", "args")) if self.is_bound else False

    def clean_code(self) -> str:
        # A browser sends CRLF; lines are counted by line feeds, in the engine and on the page.
        return str(self.cleaned_data["code"]).replace("\r\n", "\n")

    def clean_args(self) -> Any:
        text = self.cleaned_data["args"].strip() or "{}"
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise forms.ValidationError(_('Write a JSON object, such as {"query": "tax"}.')) from None

    def request(self) -> RunRequest:
        """The checked request; raises ForjaError for what only the request's own rules know."""
        data = self.cleaned_data
        body = {"tool": "js_run", "code": data["code"], "title": data["title"], "args": data["args"]}
        if data["seconds"] is not None:
            body["timeoutMs"] = max(1, round(data["seconds"] * 1_000))
        return replace(parse_run_request(body), max_tool_calls=data["calls"])

    def add_problem(self, error: ForjaError) -> None:
        """Show an error beside the input it is about, else above them all."""
        self.add_error(FIELD_OF.get(error.field or ""), words_of(error))


class SessionForm(forms.Form):
    title = forms.CharField(required=False, max_length=MAX_TITLE_CHARS)
    workspace = forms.CharField(max_length=100)

    def add_problem(self, error: ForjaError) -> None:
        self.add_error(error.field if error.field in self.fields else None, words_of(error))


class TokenForm(forms.Form):
    """A new API token of one's own; its rules are those of `people.new_token`."""

    name = forms.CharField(error_messages={"required": gettext_lazy("Give it a name, such as the program's.")})
    days = forms.IntegerField(
        required=False, error_messages={"invalid": gettext_lazy("Give a whole number of days, such as 90.")}
    )

    def add_problem(self, error: ForjaError) -> None:
        self.add_error(error.field if error.field in self.fields else None, words_of(error))


def composer_start(config: Config, **given: Any) -> dict[str, Any]:
    """The composer's first values: the limits in force, empty arguments, and what is given."""
    seconds = int(config["forge.javascript.timeoutMs"]) / 1_000
    return {
        "seconds": f"{seconds:g}",
        "calls": str(config["forge.javascript.maxToolCalls"]),
        "args": "{}",
        **given,
    }
