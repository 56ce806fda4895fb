"""The object that a session's scripts share: loaded at the claim, merged when a run succeeds."""

from __future__ import annotations

import json
from typing import Any

from runs.models import Session
from sandboxes.errors import StateConflict, StateLimit


def dump(state: dict[str, Any]) -> str:
    return json.dumps(state, separators=(",", ":"), allow_nan=False)


def merge(*, session_id: str, before_json: str, after_json: str, max_bytes: int) -> None:
    """Write the keys that a run changed; must run inside the transaction that ends the run.

    Raises STATE_CONFLICT when one of them is no longer what the run had loaded, STATE_LIMIT when the
    whole would be larger than `max_bytes` of JSON; the stored state is then untouched.
    """
    if before_json == after_json:
        return
    after = json.loads(after_json)
    old, new = _by_key(json.loads(before_json)), _by_key(after)
    changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    if not changed:
        return
    session = Session.objects.select_for_update().only("id", "state").get(pk=session_id)
    state = dict(session.state)
    now = _by_key(state)
    for key in changed:
        if now.get(key) != old.get(key):
            shown = key[:100].encode("ascii", "backslashreplace").decode()
            raise StateConflict(f"Another run changed `state.{shown}` meanwhile.", key=shown)
        if key in after:
            state[key] = after[key]
        else:
            state.pop(key, None)
    size = len(dump(state))
    if size > max_bytes:
        raise StateLimit(
            f"`state` would be {size:,} bytes; at most {max_bytes:,} are kept.", limit="forge.state.maxTotalBytes"
        )
    Session.objects.filter(pk=session_id).update(state=state)


def _by_key(state: dict[str, Any]) -> dict[str, str]:
    """Each value as canonical JSON, so that 1, true and 1.0 are told apart as a script tells them apart."""
    return {key: json.dumps(value, sort_keys=True) for key, value in state.items()}
