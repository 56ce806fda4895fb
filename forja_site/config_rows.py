"""The settings table: every key of config.json, one row each."""

from __future__ import annotations

import os

from forja_site.config_setting import Kind, Setting, Tighter

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
TIB = 1024 * GIB


def _slots() -> int:
    return min(256, max(4, 2 * (os.cpu_count() or 1)))


def _bool(key: str, default: bool, help: str, *, project: bool = False, web: bool = False) -> Setting:
    tighter = Tighter.OFF if project else Tighter.NONE
    return Setting(key=key, kind=Kind.BOOL, default=default, help=help, tighter=tighter, project=project, web=web)


def _int(
    key: str,
    default: object,
    bounds: tuple[int, int],
    help: str,
    *,
    project: bool = False,
    tighter: Tighter = Tighter.SMALLER,
    unit: str = "",
) -> Setting:
    low, high = bounds
    return Setting(
        key=key,
        kind=Kind.INT,
        default=default,
        minimum=low,
        maximum=high,
        help=help,
        project=project,
        tighter=tighter,
        unit=unit,
    )


def _cpus(key: str, help: str) -> Setting:
    return Setting(
        key=key,
        kind=Kind.FLOAT,
        default=1,
        minimum=0.1,
        maximum=16,
        help=help,
        tighter=Tighter.SMALLER,
        unit="processors",
    )


def _enum(
    key: str, choices: tuple[str, ...], help: str, *, project: bool = False, tighter: Tighter = Tighter.NONE
) -> Setting:
    return Setting(
        key=key, kind=Kind.ENUM, default=choices[0], choices=choices, help=help, project=project, tighter=tighter
    )


def _text(key: str, help: str, *, kind: Kind = Kind.STR, secret: bool = False) -> Setting:
    return Setting(key=key, kind=kind, default=None, help=help, secret=secret)


def _patterns(key: str, help: str, *, project: bool) -> Setting:
    tighter = Tighter.ADD if project else Tighter.NONE
    return Setting(key=key, kind=Kind.LIST, default=(), help=help, project=project, tighter=tighter)


_JAVASCRIPT = (
    _bool(
        "forge.javascript.enabled",
        True,
        "Whether js_run is offered; off brings execute back.",
        project=True,
        web=True,
    ),
    _enum(
        "forge.javascript.host",
        ("auto", "worker", "process"),
        "Where the engine lives: a child process, a thread of the worker, or whichever Forja finds best.",
    ),
    _int(
        "forge.javascript.timeoutMs",
        30_000,
        (1, 300_000),
        "How long one script may take, waiting for its tools included.",
        project=True,
        unit="milliseconds",
    ),
    _int("forge.javascript.memoryBytes", 32 * MIB, (MIB, 128 * MIB), "Heap of one script.", unit="bytes"),
    _int("forge.javascript.stackBytes", 256 * KIB, (16 * KIB, 512 * KIB), "Stack of one script.", unit="bytes"),
    _int("forge.javascript.maxToolCalls", 50, (0, 500), "Nested calls one script may make.", project=True),
    _int("forge.javascript.maxConcurrency", 4, (1, 16), "Nested calls that run at the same time.", project=True),
    _int(
        "forge.javascript.maxOutputChars",
        16_000,
        (1, 48_000),
        "Text plus value that goes back to the caller of a script.",
        project=True,
        unit="characters",
    ),
)

_FORGE = (
    _bool("forge.state.enabled", True, "Whether the scripts of a session share the state object.", project=True),
    _int("forge.state.maxTotalBytes", 512 * KIB, (KIB, 8 * MIB), "Size of that state.", unit="bytes"),
    _bool("forge.scratch.enabled", True, "Whether sessions have a scratchpad."),
    _text("forge.scratch.root", "Folder under which scratchpads are made; ALISIO_TMPDIR wins over it."),
    _int(
        "forge.scratch.retentionDays",
        7,
        (0, 36_500),
        "Days without activity before a scratchpad is removed; 0 keeps it for ever.",
        project=True,
        tighter=Tighter.RETENTION,
        unit="days",
    ),
    _int("forge.scratch.maxBytes", 256 * MIB, (1, TIB), "Quota of one scratchpad.", project=True, unit="bytes"),
    _bool("forge.guides.enabled", True, "Whether the forge_guide tool is offered.", project=True, web=True),
    _int("forge.queue.slots", _slots, (1, 256), "Runs at the same time, all workers together."),
    _int("forge.queue.maxPerSession", 50, (1, 1_000), "Runs one session may have waiting."),
    _int("forge.queue.maxTotal", 500, (1, 100_000), "Runs that may wait in all."),
    _int(
        "forge.history.retentionDays",
        0,
        (0, 36_500),
        "Days a finished run is kept; 0 keeps it for ever.",
        tighter=Tighter.RETENTION,
        unit="days",
    ),
    _int(
        "forge.history.maxBytes",
        0,
        (0, 1024 * TIB),
        "Stored output and artifacts in all; 0 sets no cap.",
        tighter=Tighter.RETENTION,
        unit="bytes",
    ),
    _int(
        "forge.history.minFreeBytes",
        256 * MIB,
        (0, TIB),
        "Free disk space below which new runs are refused.",
        tighter=Tighter.LARGER,
        unit="bytes",
    ),
    _int("forge.runOnce.perMinute", 60, (1, 10_000), "One-shot runs one caller may start in a minute."),
    _int("forge.runOnce.concurrent", 4, (1, 64), "One-shot runs one caller may have at the same time."),
)

_ANALYSIS = (
    _enum("analysis.runtime", ("auto", "managed", "oci", "wasm", "bwrap"), "Which backend runs Python."),
    _enum(
        "analysis.isolation",
        ("preferred", "required", "strict"),
        "What the automatic choice of a Python backend may fall back to.",
        project=True,
        tighter=Tighter.ORDER,
    ),
    _int(
        "analysis.limits.timeoutMs",
        120_000,
        (1_000, 900_000),
        "How long one Python script may take.",
        project=True,
        unit="milliseconds",
    ),
    _int(
        "analysis.limits.maxOutputChars",
        16_000,
        (1, 48_000),
        "Text plus value that goes back to the caller of a Python script.",
        project=True,
        unit="characters",
    ),
    _int("analysis.limits.maxFiles", 200, (0, 2_000), "Files one Python script may publish.", project=True),
    _int(
        "analysis.limits.maxFileBytes",
        100 * MIB,
        (1, GIB),
        "Size of one published file.",
        project=True,
        unit="bytes",
    ),
    _int(
        "analysis.limits.maxTotalBytes",
        500 * MIB,
        (1, 4 * GIB),
        "Size of all files one Python script publishes.",
        project=True,
        unit="bytes",
    ),
    _enum("analysis.oci.engine", ("auto", "docker", "podman"), "Which container engine to use."),
    _text("analysis.oci.image", "The container image; unset means the one the set-up made."),
    _int("analysis.oci.memoryMb", 1_024, (64, 16_384), "Memory of one container.", unit="MiB"),
    _cpus("analysis.oci.cpus", "Processors of one container."),
    _int("analysis.bwrap.memoryMb", 1_024, (64, 16_384), "Memory of one jail.", unit="MiB"),
    _cpus("analysis.bwrap.cpus", "Processors of one jail."),
    _int("analysis.bwrap.processes", 64, (1, 1_024), "Processes and threads of one jail."),
    _int("analysis.bwrap.tmpMb", 256, (16, 4_096), "Temporary space of one jail.", unit="MiB"),
    _int("analysis.wasm.memoryMb", 512, (128, 4_096), "Memory above which the process is ended.", unit="MiB"),
    _int(
        "analysis.wasm.startupMarginMs",
        10_000,
        (0, 60_000),
        "Time to start that the time limit does not count.",
        unit="milliseconds",
    ),
    _int("analysis.wasm.maxInputBytes", 64 * MIB, (1, 512 * MIB), "Size of all inputs of one script.", unit="bytes"),
    _text("analysis.wasm.node", "Path of the Node program; unset means the one that is found."),
    _text("analysis.managed.python", "Path of the Python to use; unset means the one that is found."),
    _int("analysis.warm", 1, (0, 8), "Rooms each backend keeps ready."),
)

_PERMISSIONS = (
    _int(
        "permissions.approvalMinutes",
        15,
        (1, 1_440),
        "How long a run waits for an approval.",
        project=True,
        unit="minutes",
    ),
    _patterns("permissions.allow", "Tools that may run unasked, as name patterns.", project=False),
    _patterns("permissions.ask", "Tools that wait for a person, as name patterns.", project=True),
    _patterns("permissions.deny", "Tools that are refused, as name patterns.", project=True),
)

_FAMILIES = (
    _text("workspaces.NAME.path", "A folder the file tools may see; `default` is a folder under the home unless set."),
    _bool("workspaces.NAME.readOnly", False, "Whether the file tools may only read there."),
    _text("mcpServers.NAME.command", "Program that serves MCP over its standard input and output."),
    _text("mcpServers.NAME.args", "Arguments of that program.", kind=Kind.LIST, secret=True),
    _text("mcpServers.NAME.env", "Environment of that program.", kind=Kind.MAP, secret=True),
    _text("mcpServers.NAME.url", "Address of an MCP server reached over HTTP.", secret=True),
    _text("mcpServers.NAME.headers", "Headers sent to that address.", kind=Kind.MAP, secret=True),
)

SETTINGS: tuple[Setting, ...] = _JAVASCRIPT + _FORGE + _ANALYSIS + _PERMISSIONS + _FAMILIES

BY_KEY: dict[str, Setting] = {setting.key: setting for setting in SETTINGS}
