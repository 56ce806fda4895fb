"""Every run gets exactly one terminal status."""

from __future__ import annotations

import json

import pytest
from django.db import OperationalError

from runs import journal, queue
from runs.execution import _finish
from runs.finishing import end_waiting, finish_running
from runs.journal import Entry
from runs.models import Run, Session
from runs.recorder import Recorder
from runs.recovery import end_orphans
from sandboxes.base import CallFinished, CallStarted, Outcome, Output, Progress
from sandboxes.errors import Cancelled, ScriptError, Timeout
from tests.runs.factories import queued_run


@pytest.fixture
def running(session):
    queued_run(session)
    return queue.claim_next(worker_id="gone", slots=4)


def kinds(run: Run) -> list[str]:
    return [event.kind for event in run.events.order_by("seq")]


def test_a_success_keeps_value_output_and_calls(running):
    recorder = Recorder(running)
    recorder.take(Output(stream="stdout", text="hello\n"))
    recorder.take(CallStarted(seq=1, tool="read_file", arguments_json='{"path":"a"}'))
    recorder.take(CallFinished(seq=1, status="succeeded", clock_ms=5, duration_ms=1.5, result_json='{"text":"x"}'))
    assert finish_running(running, Outcome(value_json="[1]", metrics={"durationMs": 3}), recorder)
    row = Run.objects.get(pk=running.pk)
    assert (row.status, row.value_json, row.stdout_head) == ("succeeded", "[1]", "hello\n")
    assert (row.calls_started, row.calls_finished, row.calls_refused) == (1, 1, 0)
    assert row.calls.get().result_json == '{"text":"x"}'
    assert kinds(row) == ["queued", "started", "output", "call_started", "call_finished", "finished"]
    assert [event.seq for event in row.events.order_by("seq")] == list(range(1, 7))


@pytest.mark.parametrize(
    ("error", "status", "limit"),
    [(ScriptError("x"), "failed", ""), (Timeout("x"), "timed_out", "TIMEOUT"), (Cancelled("x"), "cancelled", "")],
)
def test_an_error_decides_the_status(running, error, status, limit):
    finish_running(running, Outcome(error=error), Recorder(running))
    row = Run.objects.get(pk=running.pk)
    assert (row.status, row.error_code, row.limit_hit) == (status, error.code, limit)


def test_a_second_end_changes_nothing(running):
    assert finish_running(running, Outcome(value_json="1"), Recorder(running))
    assert not finish_running(running, Outcome(error=Timeout("late")), Recorder(running))
    assert not end_waiting(running, Cancelled("late"), [])
    row = Run.objects.get(pk=running.pk)
    assert row.status == "succeeded" and kinds(row).count("finished") == 1


def test_the_end_is_written_when_the_database_is_back(transactional_db, running, monkeypatch):
    attempts = []

    def failing(*arguments, **changes):
        attempts.append(1)
        if len(attempts) <= 2:
            raise OperationalError("database or disk is full")
        return append(*arguments, **changes)

    append = journal.append
    monkeypatch.setattr(journal, "append", failing)
    monkeypatch.setattr("runs.execution.RETRY_S", 0.01)
    recorder = Recorder(running)
    recorder.take(Output(stream="stdout", text="kept\n"))
    recorder.take(CallStarted(seq=1, tool="read_file", arguments_json="{}"))
    recorder.take(CallFinished(seq=1, status="succeeded", clock_ms=5, result_json="1"))
    _finish(running, Outcome(value_json="1"), recorder)
    row = Run.objects.get(pk=running.pk)
    assert (row.status, row.stdout_head, len(attempts)) == ("succeeded", "kept\n", 3)
    assert kinds(row) == ["queued", "started", "output", "call_started", "call_finished", "finished"]
    assert row.calls.get().status == "succeeded"


def test_events_written_late_are_dropped_after_the_end(running):
    recorder = Recorder(running)
    finish_running(running, Outcome(value_json="1"), Recorder(running))
    recorder.take(Progress(note="late"))
    assert recorder.flush() is False
    assert "progress" not in kinds(running)


def test_the_state_a_run_changed_is_merged_by_key(running):
    Session.objects.filter(pk=running.session_id).update(state={"other": 1})
    finish_running(running, Outcome(value_json="1", state_json='{"mine":2}'), Recorder(running))
    assert Session.objects.get(pk=running.session_id).state == {"other": 1, "mine": 2}


def test_a_key_changed_meanwhile_is_a_conflict_and_nothing_is_written(running):
    Session.objects.filter(pk=running.session_id).update(state={"n": 1})
    finish_running(running, Outcome(value_json="1", state_json='{"n":2,"m":1}'), Recorder(running))
    row = Run.objects.get(pk=running.pk)
    assert (row.status, row.error_code) == ("failed", "STATE_CONFLICT")
    assert Session.objects.get(pk=running.session_id).state == {"n": 1}


def test_too_large_a_state_is_refused_whole(running):
    running.limits = running.limits | {"maxStateBytes": 20}
    finish_running(running, Outcome(value_json="1", state_json='{"big":"%s"}' % ("x" * 30)), Recorder(running))
    row = Run.objects.get(pk=running.pk)
    assert (row.error_code, row.limit_hit) == ("STATE_LIMIT", "STATE_LIMIT")
    assert Session.objects.get(pk=running.session_id).state == {}


def test_a_failed_run_leaves_the_state_alone(running):
    finish_running(running, Outcome(error=ScriptError("x"), state_json='{"n":1}'), Recorder(running))
    assert Session.objects.get(pk=running.session_id).state == {}


def test_an_orphan_is_interrupted_and_keeps_what_it_had(running):
    recorder = Recorder(running)
    recorder.take(Output(stream="stdout", text="so far\n"))
    recorder.take(CallStarted(seq=1, tool="write_file", arguments_json="{}"))
    recorder.flush()
    assert end_orphans() == 1
    row = Run.objects.get(pk=running.pk)
    assert (row.status, row.error_code, row.stdout_head) == ("interrupted", "INTERRUPTED", "so far\n")
    assert row.calls.get().status == "cancelled"
    assert row.calls.get().error["hint"]
    assert kinds(row)[-2:] == ["call_finished", "finished"]
    assert row.metrics["queuedMs"] >= 0
    assert end_orphans() == 0


def test_numbers_stay_gapless_when_two_write(running):
    recorder = Recorder(running)
    for index in range(3):
        recorder.take(Progress(note=str(index)))
        recorder.flush()
        journal.append(running, [Entry(kind="cancel_requested", data={"by": "x"})])
    assert [event.seq for event in running.events.order_by("seq")] == list(range(1, 9))


def test_hostile_text_is_storable(running):
    recorder = Recorder(running)
    recorder.take(Output(stream="stdout", text="a\0b\ud83d\n"))
    finish_running(running, Outcome(value_json='{"k\\udc00":"v\\u0000"}'), recorder)
    row = Run.objects.get(pk=running.pk)
    assert row.stdout_head == "a\\u0000b\\ud83d\n"
    assert json.loads(row.value_json) == {"k\udc00": "v\0"}
