"""The shapes of the API, for its OpenAPI description. They are not run over replies; tests hold replies to them."""

from __future__ import annotations

from typing import Any, Literal

from ninja import Schema

RunStatus = Literal[
    "queued",
    "awaiting_approval",
    "running",
    "succeeded",
    "failed",
    "cancelled",
    "timed_out",
    "interrupted",
    "denied",
]


class ErrorDetail(Schema):
    code: str
    message: str
    hint: str
    field: str | None = None


class ErrorOut(Schema):
    error: ErrorDetail


class HealthOut(Schema):
    status: Literal["ok", "degraded", "unavailable"]
    version: str
    database: Literal["ok", "unavailable"]
    broker: Literal["ok", "unavailable"]
    workers: int


class SessionIn(Schema):
    title: str | None = None
    workspace: str | None = None
    parent: str | None = None


class SessionOut(Schema):
    id: str
    title: str
    workspace: str
    parent: str | None
    owner: str
    createdAt: str
    updatedAt: str


class Total(Schema):
    """`count` is exact up to a bound; beyond it, it is the bound and `exact` is false."""

    count: int
    exact: bool


class SessionPage(Schema):
    items: list[SessionOut]
    nextCursor: str | None
    total: Total


class RunIn(Schema):
    tool: Literal["js_run", "python_run", "execute"]
    code: str | None = None
    codePath: str | None = None
    title: str | None = None
    args: dict[str, Any] | None = None
    inputs: list[str] | None = None
    timeoutMs: int | None = None
    publishOnError: bool | None = None


class RunError(ErrorDetail):
    limit: str | None = None
    line: int | None = None
    column: int | None = None
    source: str | None = None
    stack: str | None = None
    cause: Any = None


class Text(Schema):
    text: str
    chars: int
    omitted: int


class Progress(Schema):
    note: str | None = None
    completed: int | float | None = None
    total: int | float | None = None


class Place(Schema):
    position: int


class RunSummary(Schema):
    """What lists carry; a figure that was not measured is absent."""

    id: str
    session: str
    tool: str
    title: str | None = None
    status: RunStatus
    createdAt: str
    startedAt: str | None = None
    finishedAt: str | None = None
    engine: dict[str, Any] | None = None
    backend: str | None = None
    isolation: Literal["isolated", "partial", "none"] | None = None
    reason: str | None = None
    progress: Progress | None = None
    error: RunError | None = None
    cancelRequestedAt: str | None = None
    queue: Place | None = None


class Call(Schema):
    seq: int
    tool: str
    args: Any
    status: Literal["running", "succeeded", "failed", "refused", "cancelled"]
    durationMs: float | None = None
    error: dict[str, Any] | None = None
    bytes: int


class CallDetail(Call):
    startedAt: str
    argumentsSha256: str
    lateAt: str | None = None
    result: Any = None
    resultSha256: str | None = None


class Calls(Schema):
    started: int
    finished: int
    refused: int
    items: list[Call]


class RunOut(RunSummary):
    code: str
    codePath: str | None = None
    codeSha256: str
    args: dict[str, Any]
    limits: dict[str, Any]
    controls: dict[str, Any]
    calls: Calls
    value: Any = None
    lossy: list[dict[str, Any]] | None = None
    hint: str | None = None
    output: Text
    stderr: Text
    exitCode: int | None = None
    artifacts: list[dict[str, Any]]
    metrics: dict[str, int | float] | None = None


class RunPage(Schema):
    items: list[RunSummary]
    nextCursor: str | None
    total: Total


class EventOut(Schema):
    """The fields besides these three depend on `kind`."""

    seq: int
    at: str
    kind: str


class EventList(Schema):
    items: list[EventOut]


class CancelIn(Schema):
    ids: list[str]


class CancelAnswer(Schema):
    """One per id asked for: the state it now has, or why it was not cancelled."""

    id: str
    status: RunStatus | None = None
    error: ErrorDetail | None = None


class CancelOut(Schema):
    items: list[CancelAnswer]


ERRORS: dict[int, Any] = dict.fromkeys((400, 401, 403, 404, 409, 413, 415, 429, 500, 503), ErrorOut)


def json_body(schema: type[Schema]) -> dict[str, Any]:
    """Describe a request body that the operation reads strictly by itself, refusing unknown fields."""
    content = {"application/json": {"schema": schema.json_schema() | {"additionalProperties": False}}}
    return {"requestBody": {"required": True, "content": content}}
