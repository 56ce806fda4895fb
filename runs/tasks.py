"""What the queue's token sets off: claim what is next and execute it, until nothing is left to claim."""

from __future__ import annotations

from forja_site.celery import app


# Bound to our application by name: the current one is per thread, and the web process submits from threads.
@app.task(name="runs.work", acks_late=False)
def work() -> None:
    """Take turns: each claim decides anew who is next, so one token may serve any waiting run."""
    from runs.worker import work_until_idle

    work_until_idle()
