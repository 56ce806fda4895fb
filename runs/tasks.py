"""What the queue's token sets off: claim what is next and execute it, until nothing is left to claim."""

from __future__ import annotations

import uuid
from typing import Any

from forja_site.celery import app


# Bound to our application by name: the current one is per thread, and the web process submits from threads.
@app.task(name="runs.work", acks_late=False, Request="runs.tokens:TokenRequest")
def work() -> None:
    """Take turns: each claim decides anew who is next, so one token may serve any waiting run."""
    from runs.worker import work_until_idle

    work_until_idle()


def send_token() -> None:
    """Say that a run waits. All tokens are alike but for their id, so the message is made once: a third of the cost."""
    global _token
    if _token is None:
        _token = app.amqp.as_task_v2("", work.name, (), {})
    token_id = str(uuid.uuid4())
    with app.producer_pool.acquire(block=True) as producer:
        producer.publish(
            _token.body,
            routing_key=app.conf.task_default_queue,
            serializer="json",
            retry=False,
            headers=_token.headers | {"id": token_id, "root_id": token_id},
            **(_token.properties | {"correlation_id": token_id}),
        )


_token: Any = None
