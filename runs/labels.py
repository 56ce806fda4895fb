"""The words people read: statuses, isolation, engines, tools, codes, figures with their units."""

from __future__ import annotations

from datetime import timedelta

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

STATUS: dict[str, Promise] = {
    "queued": pgettext_lazy("status", "Queued"),
    "awaiting_approval": pgettext_lazy("status", "Awaiting approval"),
    "running": pgettext_lazy("status", "Running"),
    "succeeded": pgettext_lazy("status", "Succeeded"),
    "failed": pgettext_lazy("status", "Failed"),
    "timed_out": pgettext_lazy("status", "Timed out"),
    "cancelled": pgettext_lazy("status", "Cancelled"),
    "interrupted": pgettext_lazy("status", "Interrupted"),
    "denied": pgettext_lazy("status", "Denied"),
}
CALL_STATUS: dict[str, Promise] = {
    "running": pgettext_lazy("call", "Running"),
    "succeeded": pgettext_lazy("call", "Done"),
    "failed": pgettext_lazy("call", "Failed"),
    "refused": pgettext_lazy("call", "Refused"),
    "cancelled": pgettext_lazy("call", "Stopped"),
}
ISOLATION: dict[str, Promise] = {
    "isolated": gettext_lazy("isolated"),
    "partial": gettext_lazy("partly restricted"),
    "none": gettext_lazy("not sandboxed"),
}
BACKEND: dict[str, Promise | str] = {
    "quickjs": "QuickJS",
    "bwrap": "bubblewrap",
    "oci": gettext_lazy("Container"),
    "wasm": "Pyodide",
    "wasi": "WASI",
    "managed": gettext_lazy("Managed Python"),
}
DOOR: dict[str, Promise] = {
    "page": gettext_lazy("started on the page"),
    "api": gettext_lazy("asked for through the API"),
    "mcp": gettext_lazy("asked for by the model"),
    "cli": gettext_lazy("started on the command line"),
}
ROLE: dict[str, Promise] = {
    "user": pgettext_lazy("role", "user"),
    "analyst": pgettext_lazy("role", "analyst: reads everything, acts in nothing"),
    "admin": pgettext_lazy("role", "admin"),
}
CONTROL: dict[str, Promise] = {
    "network": gettext_lazy("Network"),
    "filesystem": gettext_lazy("Files"),
    "environment": gettext_lazy("Environment"),
    "memory": gettext_lazy("Memory"),
    "cpu": gettext_lazy("Processor"),
    "processes": gettext_lazy("Processes"),
    "time": gettext_lazy("Time"),
    "output": gettext_lazy("Output"),
    "syscalls": gettext_lazy("System calls"),
}
LIMIT_KEYS: dict[str, str] = {
    "timeoutMs": "forge.javascript.timeoutMs",
    "memoryBytes": "forge.javascript.memoryBytes",
    "stackBytes": "forge.javascript.stackBytes",
    "maxToolCalls": "forge.javascript.maxToolCalls",
    "maxConcurrency": "forge.javascript.maxConcurrency",
    "maxOutputChars": "forge.javascript.maxOutputChars",
    "maxStateBytes": "forge.state.maxTotalBytes",
}
LIMIT: dict[str, Promise] = {
    "timeoutMs": gettext_lazy("Time"),
    "memoryBytes": gettext_lazy("Memory"),
    "stackBytes": gettext_lazy("Stack"),
    "maxToolCalls": gettext_lazy("Nested calls"),
    "maxConcurrency": gettext_lazy("Calls at once"),
    "maxOutputChars": gettext_lazy("Value and output together"),
    "maxStateBytes": gettext_lazy("State"),
}
CODE: dict[str, Promise] = {
    "INVALID_INPUT": gettext_lazy("The request was not understood"),
    "FORBIDDEN": gettext_lazy("Not allowed for this account"),
    "NOT_FOUND": gettext_lazy("Not found"),
    "CONFLICT": gettext_lazy("Something else changed meanwhile"),
    "SOURCE_TOO_LARGE": gettext_lazy("The code is too large"),
    "QUEUE_FULL": gettext_lazy("The queue is full"),
    "DISABLED": gettext_lazy("Switched off"),
    "CONFIG_INVALID": gettext_lazy("A configuration file is broken"),
    "ENGINE_UNAVAILABLE": gettext_lazy("The engine is not ready"),
    "ENGINE_MISMATCH": gettext_lazy("The engine is not the one that was built"),
    "SYNTAX_ERROR": gettext_lazy("The code is not valid"),
    "COMPILE_ERROR": gettext_lazy("The engine could not compile the code"),
    "SCRIPT_ERROR": gettext_lazy("The script threw an error"),
    "UNHANDLED_REJECTION": gettext_lazy("A promise was rejected and nobody caught it"),
    "UNAWAITED_CALL": gettext_lazy("A call was not awaited"),
    "DEADLOCK": gettext_lazy("The script waited for something that never comes"),
    "RESULT_NOT_SERIALIZABLE": gettext_lazy("The value cannot be kept"),
    "RESULT_TOO_LARGE": gettext_lazy("The value is too large"),
    "STATE_LIMIT": gettext_lazy("The state is too large"),
    "STATE_CONFLICT": gettext_lazy("Another run changed the same state"),
    "STATE_NOT_SERIALIZABLE": gettext_lazy("The state cannot be kept"),
    "TIMEOUT": gettext_lazy("Stopped at its time limit"),
    "MEMORY_LIMIT": gettext_lazy("Stopped at its memory limit"),
    "STACK_LIMIT": gettext_lazy("Stopped at its stack limit"),
    "OUTPUT_LIMIT": gettext_lazy("Stopped at its output limit"),
    "DISK_LIMIT": gettext_lazy("Stopped at its disk limit"),
    "PROCESS_LIMIT": gettext_lazy("Stopped at its limit of processes"),
    "FUEL_LIMIT": gettext_lazy("Stopped at its limit of work"),
    "QUOTA_EXCEEDED": gettext_lazy("The scratchpad is full"),
    "UNKNOWN_TOOL": gettext_lazy("There is no such tool"),
    "NOT_CALLABLE": gettext_lazy("Scripts cannot call this tool"),
    "APPROVAL_REQUIRED": gettext_lazy("This tool asks a person, and a script cannot ask"),
    "APPROVAL_EXPIRED": gettext_lazy("Nobody answered in time"),
    "PERMISSION_DENIED": gettext_lazy("The permissions deny it"),
    "HOST_NOT_ALLOWED": gettext_lazy("This host is not on the list"),
    "TOOL_LIMIT": gettext_lazy("More calls than the run may make"),
    "TOOL_ERROR": gettext_lazy("The tool failed"),
    "TOOL_PROTOCOL_ERROR": gettext_lazy("The tool answered out of protocol"),
    "TOOL_TIMEOUT": gettext_lazy("The tool took too long"),
    "TOOL_UNAVAILABLE": gettext_lazy("The tool is not available"),
    "TOOL_RESULT_TOO_LARGE": gettext_lazy("The tool's answer is too large"),
    "ISOLATION_UNAVAILABLE": gettext_lazy("No isolated engine is ready"),
    "KILLED": gettext_lazy("The engine was ended from outside"),
    "INTERRUPTED": gettext_lazy("The worker that held it stopped"),
    "CANCELLED": gettext_lazy("Stopped on request"),
    "INTERNAL": gettext_lazy("Forja failed, not the script"),
}
LANGUAGE: dict[str, str] = {"javascript": "JavaScript", "python": "Python"}


def word(table: dict[str, Promise] | dict[str, Promise | str], key: str) -> str:
    """The word for a key; an unknown key is shown as it is."""
    return str(table.get(key, key))


def decimal(value: float, places: int) -> str:
    return str(number_format(value, decimal_pos=places, use_l10n=True))


def count(value: int) -> str:
    """A whole number with the language's own grouping."""
    return str(number_format(value, use_l10n=True, force_grouping=True))


def duration(milliseconds: float) -> str:
    """A duration as a person reads it: 93 ms, 1.9 s, 1 min 1 s."""
    if milliseconds < 10:
        return f"{decimal(milliseconds, 1)} ms"
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1_000
    if seconds < 60:
        return f"{decimal(seconds, 1)} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def iso_duration(milliseconds: float) -> str:
    return f"PT{timedelta(milliseconds=milliseconds).total_seconds():.3f}S"


def size(number: int) -> str:
    """A size in bytes as a person reads it."""
    if number < 1024:
        return ngettext("%(count)s byte", "%(count)s bytes", number) % {"count": number}
    value = number / 1024
    for unit in ("KiB", "MiB"):
        if value < 1024:
            return f"{decimal(value, 1 if value < 10 else 0)} {unit}"
        value /= 1024
    return f"{decimal(value, 1)} GiB"


def limit_value(name: str, value: int) -> str:
    """A limit with its unit."""
    if name.endswith("Ms"):
        return duration(value)
    if name.endswith("Bytes"):
        return size(value)
    if name.endswith("Chars"):
        return _("%(count)s characters") % {"count": count(value)}
    return count(value)
