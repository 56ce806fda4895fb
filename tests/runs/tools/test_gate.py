"""The permission gate: every rule, and the order they go in."""

from __future__ import annotations

import pytest

from runs.tools.gate import Permissions, decide, refuse_nested
from sandboxes.base import Isolation
from sandboxes.errors import ApprovalRequired, PermissionDenied

READ = {"name": "read_file", "read_only_tool": True}
WRITE = {"name": "write_file"}
SCRATCH = {"name": "write_file", "target_in_scratch": True}
MCP_READ = {"name": "docs.search", "server": "docs", "read_only_tool": True}
MCP_WRITE = {"name": "docs.delete", "server": "docs"}
JS = {"name": "js_run", "isolation": Isolation.ISOLATED}
PYTHON = {"name": "python_run", "isolation": Isolation.ISOLATED}
PYTHON_PARTIAL = {"name": "python_run", "isolation": Isolation.PARTIAL}
PYTHON_NONE = {"name": "python_run", "isolation": Isolation.NONE}


def verdict(call, *, read_only=False, **permissions):
    return decide(**call, permissions=Permissions(**permissions), read_only=read_only).verdict


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (READ, "allow"),
        (WRITE, "ask"),
        (SCRATCH, "allow"),
        (MCP_READ, "ask"),
        (MCP_WRITE, "ask"),
        (JS, "allow"),
        ({"name": "execute", "isolation": Isolation.ISOLATED}, "allow"),
        (PYTHON, "allow"),
        (PYTHON_PARTIAL, "ask"),
        (PYTHON_NONE, "ask"),
    ],
)
def test_it_has_these_defaults(call, expected):
    assert verdict(call) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (READ, "allow"),
        (WRITE, "deny"),
        (SCRATCH, "deny"),
        (MCP_READ, "allow"),
        (MCP_WRITE, "deny"),
        (JS, "allow"),
        (PYTHON, "allow"),
    ],
)
def test_read_only_denies_writes_anywhere_even_allowed_ones(call, expected):
    assert verdict(call, read_only=True, allow=("*",)) == expected


@pytest.mark.parametrize("call", [READ, WRITE, SCRATCH, MCP_READ, MCP_WRITE, JS, PYTHON, PYTHON_NONE])
def test_deny_wins_over_ask_and_ask_over_allow(call):
    assert verdict(call, allow=("*",), ask=("*",), deny=("*",)) == "deny"
    assert verdict(call, allow=("*",), ask=("*",)) == "ask"
    assert verdict(call, allow=("*",)) == ("ask" if call is PYTHON_NONE else "allow")
    assert verdict(call, ask=("*",)) == "ask"


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("docs.search", True),
        ("docs.*", True),
        ("*.search", True),
        ("d?cs.search", True),
        ("[c-e]ocs.*", True),
        ("Docs.*", False),
        ("search", False),
        ("docs-search", False),
        ("docs.searc", False),
        ("docs/search", False),
    ],
)
def test_patterns_are_shell_style_and_case_sensitive(pattern, fits):
    assert verdict(MCP_READ, deny=(pattern,)) == ("deny" if fits else "ask")


def test_patterns_fit_the_registered_name_then_server_and_tool():
    call = {"name": "get.weather", "server": "fx"}
    assert verdict(call, allow=("get.weather",)) == "allow"
    assert verdict(call, allow=("fx.get.weather",)) == "allow"
    assert verdict(call, allow=("fx.*",)) == "allow"


def test_the_permission_of_one_name_is_never_applied_to_a_similar_one():
    dotted, dashed = {"name": "get.weather", "server": "fx"}, {"name": "get-weather", "server": "fx"}
    assert verdict(dotted, allow=("fx.*",), deny=("get.weather",)) == "deny"
    assert verdict(dashed, allow=("fx.*",), deny=("get.weather",)) == "allow"


def test_a_name_that_looks_like_a_pattern_fits_itself():
    assert verdict({"name": "a[b]", "server": "fx"}, allow=("a[b]",)) == "allow"


def test_it_says_why():
    reason = decide(**WRITE, permissions=Permissions(deny=("nothing", "write_*"))).reason
    assert reason == "permissions.deny has `write_*`"


def test_a_nested_call_is_refused_where_a_person_would_be_asked():
    asked = decide(**WRITE, permissions=Permissions())
    denied = decide(**WRITE, permissions=Permissions(deny=("*",)))
    with pytest.raises(ApprovalRequired, match="write_file"):
        refuse_nested(asked, "write_file")
    with pytest.raises(PermissionDenied, match=r"permissions\.deny has `\*`"):
        refuse_nested(denied, "write_file")
    refuse_nested(decide(**READ, permissions=Permissions()), "read_file")
