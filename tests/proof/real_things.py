"""Schemathesis hooks: a request that should be taken names things that exist.

Loaded by Schemathesis in its own process (SCHEMATHESIS_HOOKS); FORJA_PROOF tells it where the instance is and which
rows were made for it. A request that is wrong on purpose is left as it was generated.
"""

from __future__ import annotations

import json
import os
import secrets
from typing import Any

import httpx
import schemathesis
from schemathesis.core.parameters import ParameterLocation

THINGS = json.loads(os.environ["FORJA_PROOF"])
SCRIPT = 'progress({note: "half"}); console.log("here"); return await tools.call("list_files", {})'

client = httpx.Client(base_url=THINGS["url"], headers={"Authorization": f"Bearer {THINGS['token']}"}, trust_env=False)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    if _is_meant_well(case, ParameterLocation.PATH):
        for name in case.path_parameters or {}:
            case.path_parameters[name] = _real(name, case)
    if _is_meant_well(case, ParameterLocation.BODY) and case.operation.label == "POST /api/sessions/{session_id}/runs":
        case.body = {"tool": "js_run", "code": SCRIPT}
    if _is_meant_well(case, ParameterLocation.BODY) and case.operation.label == "POST /api/users":
        case.body["name"] = _free_name()


def _is_meant_well(case: Any, location: ParameterLocation) -> bool:
    component = case.meta.components.get(location) if case.meta else None
    return component is not None and component.mode.is_positive


def _real(name: str, case: Any) -> str:
    """An id that exists; of what a request takes away or changes for good, one made for it alone."""
    if name == "user_id":
        return _made("/api/users", {"name": _free_name()})
    if name == "token_id":
        return _made("/api/tokens", {"name": "to be revoked"})
    if case.method == "DELETE":
        return _made("/api/sessions", {})
    return str(THINGS[name])


def _made(path: str, body: dict[str, Any]) -> str:
    return str(client.post(path, json=body).json()["id"])


def _free_name() -> str:
    return f"user {secrets.token_hex(6)}"
