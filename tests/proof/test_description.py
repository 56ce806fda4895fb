"""Schemathesis against our own OpenAPI description: no 5xx, documented answers only, nothing wrong taken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from urllib.parse import urlsplit

import pytest

from tests.live import ROOT, LiveForja

SCRIPT = 'return await tools.call("list_files", {})'
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "ignored_auth",
    "use_after_free",
)
"""Left out: `unsupported_method` and `allow_header_conformance`, for a method that a path does not know is
`NOT_FOUND` here; `positive_data_acceptance`, for rules between fields that JSON Schema cannot say; and
`object_level_authorization`, which the table of rights holds route by route."""


@pytest.fixture(scope="module")
def forja(tmp_path_factory):
    forja = LiveForja(tmp_path_factory.mktemp("proof"))
    try:
        yield forja.start()
    finally:
        forja.stop()


@pytest.fixture(scope="module")
def report(forja, tmp_path_factory):
    """What Schemathesis printed, its exit status, and every exchange it had."""
    folder = tmp_path_factory.mktemp("schemathesis")
    session = forja.session()
    run = forja.run(SCRIPT, session=session)
    things = {
        "url": forja.url,
        "token": (forja.home / "admin-token").read_text().strip(),
        "session_id": session,
        "run_id": run["id"],
        "seq": run["calls"]["items"][0]["seq"],
    }
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{forja.url}/api/openapi.json"),
            *("--header", f"Authorization: Bearer {things['token']}", "--seed", "20261204", "--max-examples", "15"),
            *("--checks", ",".join(CHECKS), "--request-timeout", "60", "--continue-on-failure"),
            *("--report", "har", "--report-har-path", str(folder / "report.har"), "--output-sanitize", "false"),
        ],
        cwd=folder,
        env=os.environ
        | {
            "FORJA_PROOF": json.dumps(things),
            "PYTHONPATH": str(ROOT),
            "SCHEMATHESIS_HOOKS": "tests.proof.real_things",
        },
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    har = folder / "report.har"
    entries = json.loads(har.read_text())["log"]["entries"] if har.exists() else []
    return ended, entries


def test_no_answer_breaks_what_the_description_promises(report):
    ended, entries = report
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
    assert len(entries) > 200


def test_every_operation_was_taken_at_least_once_not_only_refused(forja, report):
    """A run of refusals alone would prove little."""
    _, entries = report
    paths = forja.client.get("/api/openapi.json").json()["paths"]
    statuses = defaultdict(set)
    for entry in entries:
        statuses[entry["request"]["method"], _template(paths, entry["request"]["url"])].add(entry["response"]["status"])
    operations = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    taken = {operation for operation in operations if any(200 <= status < 300 for status in statuses[operation])}
    # The made run has ended: stopping it is answered, and can only be refused.
    assert operations - taken <= {("POST", "/api/runs/{run_id}/cancel")}
    assert 409 in statuses["POST", "/api/runs/{run_id}/cancel"]


def _template(paths, url):
    path = urlsplit(url).path
    # A plain path before a pattern: /api/runs/cancel is no run.
    for template in sorted(paths, key=lambda template: template.count("{")):
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            return template
    return path


def test_the_instance_is_well_afterwards(forja, report):
    assert forja.client.get("/health").json()["status"] == "ok"
    assert forja.value("return 6 * 7") == 42
    assert "Traceback" not in forja.log.read_text()
