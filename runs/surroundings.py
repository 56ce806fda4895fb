"""What a session's tools may reach: its workspace and its scratchpad."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from django.conf import settings

from forja_site.config import Config
from runs.configuration import config_for, workspace_named
from runs.models import Session
from runs.scratchpad import Scratchpad, open_scratchpad
from runs.tools.gate import Permissions
from runs.workspaces import Workspace
from sandboxes.errors import Disabled


@dataclass(kw_only=True)
class Surroundings:
    """A session's workspace, scratchpad and permissions under the configuration in force."""

    session: Session
    config: Config
    workspace: Workspace
    permissions: Permissions

    @cached_property
    def scratch(self) -> Scratchpad | None:
        """Made when a tool first asks for it."""
        return scratchpad_of(self.session, self.config)


def surroundings_of(session: Session) -> Surroundings:
    workspace = workspace_named(config_for(), session.workspace)
    config = config_for(workspace)
    return Surroundings(
        session=session,
        config=config,
        workspace=workspace,
        permissions=Permissions(
            allow=tuple(config["permissions.allow"]),
            ask=tuple(config["permissions.ask"]),
            deny=tuple(config["permissions.deny"]),
        ),
    )


def scratchpad_of(session: Session, config: Config) -> Scratchpad | None:
    """The scratchpad of the session's root, or None while scratchpads are off."""
    if not config["forge.scratch.enabled"]:
        return None
    root = config["forge.scratch.root"]
    return open_scratchpad(
        base=Path(root) if root else None,
        home=Path(settings.FORJA_HOME),
        workspace=session.workspace,
        session_id=session.root_id_or_self,
        max_bytes=int(config["forge.scratch.maxBytes"]),
    )


def read_code(session: Session, path: str) -> str:
    """The script that `codePath` names in the session's scratchpad."""
    scratch = scratchpad_of(session, config_for(workspace_named(config_for(), session.workspace)))
    if scratch is None:
        raise Disabled("`codePath` needs the scratchpad, which is switched off.", hint="Send `code` instead.")
    return scratch.read_code(path)
