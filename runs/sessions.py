"""Sessions: making them, finding them with the caller's rights, ending them."""

from __future__ import annotations

from runs.cleaning import remove_session_files
from runs.configuration import config_for, workspace_named
from runs.models import Run, Session, User
from runs.models.prepared import Prepared
from runs.requests import MAX_TITLE_CHARS, storable
from runs.writing import write
from sandboxes.errors import Conflict, Forbidden, InvalidInput, NotFound


def create_session(
    *, user: User, title: str = "", workspace: str = "default", parent: Session | None = None
) -> Session:
    """Make a session; a child shares its root's scratchpad and has workspace rules of its own.

    `FORBIDDEN` for an analyst.
    """
    _require_writer(user)
    title = title.strip()
    if len(title) > MAX_TITLE_CHARS:
        raise InvalidInput(f"A title has at most {MAX_TITLE_CHARS} characters.", field="title")
    workspace_named(config_for(), workspace)
    return Session.objects.create(
        owner=user,
        title=storable(title),
        workspace=workspace,
        parent=parent,
        root_id=parent.root_id_or_self if parent else None,
    )


# Without `state`, which can be half a mebibyte and is rarely wanted.
_by_id = Prepared(lambda: Session.objects.defer("state").filter(pk=""))


def session_for(user: User, session_id: str, *, write: bool = False) -> Session:
    """The session, if this user may see it (`NOT_FOUND`) and, to write, owns it (`FORBIDDEN`)."""
    session = _by_id.first(session_id)
    if session is None or not (user.reads_all or session.owner_id == user.pk):
        raise NotFound("There is no such session of yours.")
    if write:
        _require_writer(user)
        if session.owner_id != user.pk:
            raise Forbidden("Only its owner can act in this session.", hint="Open a session of your own.")
    return session


def _require_writer(user: User) -> None:
    if user.role == User.Role.ANALYST:
        raise Forbidden("An analyst reads everything and changes nothing.", hint="Ask an admin for the role `user`.")


def delete_session(*, session: Session) -> None:
    """Remove a session with its children and their runs; refused while one of the runs is active."""
    with write():
        family = _family(session)
        if Run.objects.active().filter(session__in=family).exists():
            raise Conflict("A run of this session has not ended.", hint="Stop it first, then delete the session.")
        run_ids = list(Run.objects.filter(session__in=family).values_list("id", flat=True))
        session.delete()
    remove_session_files(session=session, run_ids=run_ids)


def _family(session: Session) -> list[Session]:
    """The session and everything below it."""
    found, level = [session], [session]
    while level:
        level = list(Session.objects.filter(parent__in=level))
        found += level
    return found
