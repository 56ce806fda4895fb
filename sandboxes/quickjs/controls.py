"""What the JavaScript backend holds back and how, in words; only what is really applied is called applied."""

from __future__ import annotations

from sandboxes.base import KIB, MIB, Control, Limits

_ONE_FUNCTION = "the WebAssembly module imports one function of Forja's and nothing of the system"


def controls(limits: Limits, *, host: str) -> dict[str, Control]:
    """Give the rows of a run's `controls`, by the contract's names."""
    own_process = host == "process"
    return {
        "network": Control(requested="none", applied=True, how=f"{_ONE_FUNCTION}: there is no socket to open"),
        "filesystem": Control(requested="none", applied=True, how=f"{_ONE_FUNCTION}: there is no file to open"),
        "environment": Control(
            requested="none",
            applied=True,
            how=f"{_ONE_FUNCTION}: no variables, no host clock, no random source"
            + ("; the child process itself starts with an empty environment" if own_process else ""),
        ),
        "memory": Control(
            requested=f"{limits.memory_bytes // MIB} MiB of heap, {limits.stack_bytes // KIB} KiB of stack",
            applied=True,
            how="QuickJS refuses allocations above the heap limit; WebAssembly's memory has a hard ceiling above it",
        ),
        "cpu": Control(
            requested="at most one core, for at most the time limit",
            applied=True,
            how="a VM has one thread; its share of that core is not limited",
        ),
        "processes": Control(requested="none", applied=True, how=f"{_ONE_FUNCTION}: nothing can be started"),
        "time": Control(
            requested=f"{limits.timeout_ms:,} ms, waiting for tools included",
            applied=True,
            how="an epoch check in the compiled code traps the script wherever it is"
            + ("; the child process is killed if it does not confirm" if own_process else ""),
        ),
        "output": Control(
            requested=f"{limits.max_output_chars:,} characters of value and text to a model, 64 MiB stored per stream",
            applied=True,
            how="counted outside the VM; what is beyond is dropped and counted",
        ),
        "syscalls": Control(
            requested="none from the script",
            applied=True,
            how=f"{_ONE_FUNCTION}; no system-call filter is put around the engine itself",
        ),
    }
