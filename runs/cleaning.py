"""Removing what a deleted session left on disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from runs.configuration import config_for
from runs.models import Session
from runs.streams import folder_of
from runs.surroundings import scratchpad_of


def remove_session_files(*, session: Session, run_ids: Iterable[str]) -> None:
    """Remove stored output of the runs, and the scratchpad when the session was its root."""
    for run_id in run_ids:
        shutil.rmtree(folder_of(run_id), ignore_errors=True)
    if session.root_id is None:
        scratch = scratchpad_of(session, config_for())
        if scratch is not None:
            scratch.remove()
