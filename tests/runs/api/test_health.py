"""Whether the instance is well."""

from __future__ import annotations

import os
import socket

from runs.models import Worker


def test_it_is_degraded_without_a_worker_and_ok_with_one(nobody, settings):
    body = nobody.get("/health").json()
    assert body == {
        "status": "degraded",
        "version": settings.FORJA_VERSION,
        "database": "ok",
        "broker": "ok",
        "workers": 0,
    }
    Worker.objects.create(host=socket.gethostname(), pid=os.getpid(), boot="")
    assert nobody.get("/health").json()["status"] == "ok"


def test_it_is_unavailable_without_a_broker(nobody, settings):
    settings.REDIS_URL = "unix:///nowhere/broker.sock"
    reply = nobody.get("/health")
    assert (reply.status_code, reply.json()["status"], reply.json()["broker"]) == (503, "unavailable", "unavailable")
