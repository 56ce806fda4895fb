"""Every error a caller can see: one small class per code, with its HTTP status and its default hint.

The list is closed: a code that is not here does not exist. `message` says what was wrong with this
request or script; `hint` says what to do next.
"""

from __future__ import annotations

from typing import Any, ClassVar


class ForjaError(Exception):
    """Base of all errors that carry a public code."""

    code: ClassVar[str] = "INTERNAL"
    http_status: ClassVar[int] = 500
    default_hint: ClassVar[str] = "Ask whoever runs Forja to look at the server log."

    def __init__(self, message: str, *, hint: str | None = None, field: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint
        self.field = field
        self.details = {key: value for key, value in details.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """Give `{code, message, hint, field?, …details}` as stored on a run and sent by the API."""
        body: dict[str, Any] = {"code": self.code, "message": self.message, "hint": self.hint}
        if self.field is not None:
            body["field"] = self.field
        return body | self.details


# ── Requests ────────────────────────────────────────────────────────────────────────────────────


class InvalidInput(ForjaError):
    code = "INVALID_INPUT"
    http_status = 400
    default_hint = "Correct the named field and send the request again."


class Unauthenticated(ForjaError):
    code = "UNAUTHENTICATED"
    http_status = 401
    default_hint = "Send `Authorization: Bearer TOKEN`, or sign in on the page."


class Forbidden(ForjaError):
    code = "FORBIDDEN"
    http_status = 403
    default_hint = "Ask an admin for the role this needs."


class Disabled(ForjaError):
    code = "DISABLED"
    http_status = 403
    default_hint = "An admin can switch it on by its `.enabled` key in config.json."


class NotFound(ForjaError):
    code = "NOT_FOUND"
    http_status = 404
    default_hint = "Check the id and whose it is."


class Conflict(ForjaError):
    code = "CONFLICT"
    http_status = 409
    default_hint = "Read the current state and decide again."


class AlreadyFinished(ForjaError):
    code = "ALREADY_FINISHED"
    http_status = 409
    default_hint = "The run has ended; its result stands."


class SourceTooLarge(ForjaError):
    code = "SOURCE_TOO_LARGE"
    http_status = 413
    default_hint = "Send less: keep data in files and read it with tools."


class UnsupportedMediaType(ForjaError):
    code = "UNSUPPORTED_MEDIA_TYPE"
    http_status = 415
    default_hint = "Send `Content-Type: application/json`."


class RateLimited(ForjaError):
    code = "RATE_LIMITED"
    http_status = 429
    default_hint = "Wait for the seconds in Retry-After, then send it again."


class QueueFull(ForjaError):
    code = "QUEUE_FULL"
    http_status = 429
    default_hint = "Wait for runs to end, or cancel queued ones."


class ConfigInvalid(ForjaError):
    code = "CONFIG_INVALID"
    http_status = 503
    default_hint = "Mend the named configuration file; nothing runs until it is valid."


class EngineUnavailable(ForjaError):
    code = "ENGINE_UNAVAILABLE"
    http_status = 503
    default_hint = "Run `make setup`, which builds the engine, then try again."


# ── Scripts ─────────────────────────────────────────────────────────────────────────────────────


class SandboxError(ForjaError):
    """A failure of the guest, not of Forja: it ends the run and nothing else."""

    code = "SCRIPT_ERROR"
    http_status = 200


class ScriptSyntaxError(SandboxError):
    code = "SYNTAX_ERROR"
    default_hint = "Correct the marked line."


class CompileError(SandboxError):
    code = "COMPILE_ERROR"
    default_hint = "Simplify the script: the engine could not compile it."


class ScriptError(SandboxError):
    code = "SCRIPT_ERROR"
    default_hint = "Correct the marked line, or catch the error where it can happen."


class UnhandledRejection(SandboxError):
    code = "UNHANDLED_REJECTION"
    default_hint = "Await every promise, or add a catch to it."


class UnawaitedCall(SandboxError):
    code = "UNAWAITED_CALL"
    default_hint = "Await every tools.call before the script returns."


class Deadlock(SandboxError):
    code = "DEADLOCK"
    default_hint = "Find the `await` whose promise nothing resolves: resolve it in the script, or await a tools.call."


class ResultNotSerializable(SandboxError):
    code = "RESULT_NOT_SERIALIZABLE"
    default_hint = "Return plain JSON: objects, arrays, strings, numbers, booleans or null."


class ResultTooLarge(SandboxError):
    code = "RESULT_TOO_LARGE"
    default_hint = "Return a summary, or write the data to a file and return its path."


class StateLimit(SandboxError):
    code = "STATE_LIMIT"
    default_hint = "Keep less in `state`; large data belongs in the scratchpad."


class StateConflict(SandboxError):
    code = "STATE_CONFLICT"
    default_hint = "Run it again: another run changed the same key meanwhile."


class StateNotSerializable(SandboxError):
    code = "STATE_NOT_SERIALIZABLE"
    default_hint = "Keep only plain JSON in `state`."


# ── Limits ──────────────────────────────────────────────────────────────────────────────────────


class Timeout(SandboxError):
    code = "TIMEOUT"
    default_hint = "Do less per run; a timeoutMs below the configured limit can be raised up to it."


class MemoryLimit(SandboxError):
    code = "MEMORY_LIMIT"
    default_hint = "Hold less at once: work in pieces and keep only what you need."


class StackLimit(SandboxError):
    code = "STACK_LIMIT"
    default_hint = "Turn the recursion into a loop."


class OutputLimit(SandboxError):
    code = "OUTPUT_LIMIT"
    default_hint = "Print less; return a summary."


class DiskLimit(SandboxError):
    code = "DISK_LIMIT"
    default_hint = "Write less, or remove files that are not needed."


class ProcessLimit(SandboxError):
    code = "PROCESS_LIMIT"
    default_hint = "Start fewer processes."


class FuelLimit(SandboxError):
    code = "FUEL_LIMIT"
    default_hint = "Do less per run."


class QuotaExceeded(ForjaError):
    code = "QUOTA_EXCEEDED"
    http_status = 409
    default_hint = "Empty the scratchpad or write less; nothing was written."


# ── Nested calls ────────────────────────────────────────────────────────────────────────────────


class ToolCallError(ForjaError):
    """A nested call that failed; the script can catch it."""

    code = "TOOL_ERROR"
    http_status = 200
    default_hint = "Catch it in the script, or correct the arguments."


class ToolError(ToolCallError):
    code = "TOOL_ERROR"


class UnknownTool(ToolCallError):
    code = "UNKNOWN_TOOL"
    default_hint = "`tools.list()` names the tools there are."


class NotCallable(ToolCallError):
    code = "NOT_CALLABLE"
    default_hint = "Do its work in this script: no script can call this tool."


class ApprovalRequired(ToolCallError):
    code = "APPROVAL_REQUIRED"
    default_hint = "A script cannot ask: have an admin add the tool to permissions.allow in config.json."


class ApprovalExpired(ForjaError):
    code = "APPROVAL_EXPIRED"
    http_status = 409
    default_hint = "Ask again: nobody answered in time and nothing ran."


class PermissionDenied(ToolCallError):
    code = "PERMISSION_DENIED"
    default_hint = "The permissions of this server or project deny it."


class HostNotAllowed(ToolCallError):
    code = "HOST_NOT_ALLOWED"
    default_hint = "Only hosts on the allow-list can be reached."


class ToolLimit(ToolCallError):
    code = "TOOL_LIMIT"
    default_hint = "Make fewer calls: filter first, or read several things with one call."


class ToolProtocolError(ToolCallError):
    code = "TOOL_PROTOCOL_ERROR"
    default_hint = "The tool's server answered out of protocol; look at its log."


class ToolTimeout(ToolCallError):
    code = "TOOL_TIMEOUT"
    default_hint = "The tool took too long; ask it for less."


class ToolUnavailable(ToolCallError):
    code = "TOOL_UNAVAILABLE"
    default_hint = "The tool's server is down; try again, or do without it."


class ToolResultTooLarge(ToolCallError):
    code = "TOOL_RESULT_TOO_LARGE"
    default_hint = "Ask the tool for less: use limits, offsets or a narrower path."


# ── Engines ─────────────────────────────────────────────────────────────────────────────────────


class EngineMismatch(ForjaError):
    code = "ENGINE_MISMATCH"
    http_status = 503
    default_hint = "Delete the built engine and run the set-up again."


class IsolationUnavailable(ForjaError):
    code = "ISOLATION_UNAVAILABLE"
    http_status = 503
    default_hint = "Use js_run instead: its backend is part of Forja."


class Killed(SandboxError):
    code = "KILLED"
    default_hint = "The engine's process was ended from outside; run it again."


class Interrupted(ForjaError):
    code = "INTERRUPTED"
    default_hint = "Nothing is run again by itself; start it again if its effects allow."


class Cancelled(ForjaError):
    code = "CANCELLED"
    default_hint = "It was stopped on request."


class Internal(ForjaError):
    code = "INTERNAL"


def all_errors() -> dict[str, type[ForjaError]]:
    """Give every public code with its class; documentation and tests read this."""
    found: dict[str, type[ForjaError]] = {}
    pending: list[type[ForjaError]] = [ForjaError]
    while pending:
        cls = pending.pop()
        pending.extend(cls.__subclasses__())
        if cls not in (ForjaError, SandboxError, ToolCallError):
            found[cls.code] = cls
    return found
