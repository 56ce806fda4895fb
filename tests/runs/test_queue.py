"""Who runs next, and how often."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from runs import queue
from runs.models import Run, Worker
from runs.sessions import create_session
from sandboxes.errors import QueueFull
from tests.runs.factories import queued_run


def claim(slots: int = 4) -> Run | None:
    return queue.claim_next(worker_id="w", slots=slots)


def test_it_claims_in_the_order_of_asking_within_a_session(session):
    runs = [queued_run(session) for _ in range(3)]
    assert [claim().id for _ in range(3)] == [run.id for run in runs]


def test_it_lets_another_session_in_before_a_long_line(session, owner):
    first = [queued_run(session) for _ in range(10)]
    assert claim(slots=1).id == first[0].id
    other = queued_run(create_session(user=owner))
    Run.objects.filter(pk=first[0].pk).update(status="succeeded")
    assert claim(slots=1).id == other.id


def test_it_claims_nothing_while_every_slot_is_taken(session):
    queued_run(session), queued_run(session)
    assert claim(slots=1) is not None
    assert claim(slots=1) is None


def test_it_writes_the_start_with_the_claim(session):
    queued_run(session)
    run = claim()
    events = [(event.seq, event.kind) for event in run.events.order_by("seq")]
    assert events == [(1, "queued"), (2, "started")]
    row = Run.objects.get(pk=run.pk)
    assert (row.status, row.worker, row.last_seq) == ("running", "w", 2)
    assert row.started_at is not None and row.clock_ms == int(row.started_at.timestamp() * 1000)


def test_it_loads_the_state_at_the_claim(session):
    run = queued_run(session)
    session.state = {"n": 7}
    session.save()
    assert claim().state_before == '{"n":7}'
    assert Run.objects.get(pk=run.pk).state_before == '{"n":7}'


def test_it_tells_each_waiting_run_its_place(session, owner):
    mine = [queued_run(session) for _ in range(3)]
    theirs = queued_run(create_session(user=owner))
    places = queue.positions([*mine, theirs])
    assert [places[run.pk] for run in (*mine, theirs)] == [1, 3, 4, 2]


def test_its_places_are_the_order_in_which_it_claims(session, owner):
    sessions = [session, create_session(user=owner), create_session(user=owner)]
    for index in (0, 0, 1, 0, 2, 1, 0):
        queued_run(sessions[index])
    line = [number for number, _ in queue.line_up()]
    assert line == [claim(slots=100).pk for _ in range(7)]


def test_a_full_session_and_a_full_queue_refuse(session, owner):
    queued_run(session), queued_run(session)
    with pytest.raises(QueueFull, match="of this session"):
        queue.require_room(session=session, max_per_session=2, max_total=100)
    with pytest.raises(QueueFull, match="at most 2"):
        queue.require_room(session=create_session(user=owner), max_per_session=2, max_total=2)
    queue.require_room(session=session, max_per_session=3, max_total=3)


def test_it_counts_what_is_active(session):
    queued_run(session), queued_run(session)
    claim()
    assert queue.counts(session) == {"running": 1, "queued": 1, "awaiting_approval": 0}


def test_a_worker_silent_on_another_host_counts_as_dead(db):
    from runs.recovery import is_alive

    worker = Worker(host="elsewhere", pid=1, boot="1", heartbeat_at=timezone.now())
    assert is_alive(worker)
    worker.heartbeat_at = timezone.now() - timedelta(seconds=16)
    assert not is_alive(worker)


@pytest.mark.parametrize(
    ("sql", "parameters"), [(queue._WAITING_SQL, ["x"]), (queue._LINE_SQL, []), (queue._ANY_SQL, [])]
)
def test_its_questions_never_read_through_the_runs_that_ended(db, sql, parameters):
    if connection.vendor != "sqlite":
        pytest.skip("the plan is SQLite's")
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN QUERY PLAN " + sql, parameters)
        plan = [row[3] for row in cursor.fetchall()]
    assert not [step for step in plan if step.startswith("SCAN run")], plan
