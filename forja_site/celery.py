"""The Celery application: what travels on it is a token, never a payload."""

from __future__ import annotations

import os
import threading
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forja_site.settings")

app = Celery("forja")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["runs"])

RUN_THREAD_STACK_BYTES = 16 * 1024 * 1024
"""WebAssembly on a thread with a small stack ends the process; set before the pool makes its threads."""


@signals.worker_init.connect
def _prepare_threads(**_: Any) -> None:
    threading.stack_size(RUN_THREAD_STACK_BYTES)


@signals.worker_ready.connect
def _start(**_: Any) -> None:
    from forja_site.memory import settle
    from runs.worker import process

    process.start()
    settle()


@signals.worker_shutting_down.connect
def _interrupt_runs(**_: Any) -> None:
    from runs.worker import process

    process.stop()


@signals.worker_shutdown.connect
def _leave(**_: Any) -> None:
    # A tool that ignores every stop would keep its thread, and with it the process, alive.
    os._exit(0)
