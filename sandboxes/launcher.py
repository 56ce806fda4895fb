"""Runs in front of every child process: binds it to its parent, limits it, and becomes it. See child.py."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38


def launch(order: str, command: list[str]) -> None:
    told = json.loads(order)
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_PR_SET_PDEATHSIG, signal.SIGKILL), (_PR_SET_NO_NEW_PRIVS, told["no_new_privileges"])):
        if not value:
            continue
        if libc.prctl(option, int(value), 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != told["parent"]:  # it died before the signal was asked for
        os._exit(1)
    for name, value in told["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name.upper()}"), (value, value))
    os.execvp(command[0], command)


if __name__ == "__main__":
    launch(sys.argv[1], sys.argv[2:])
