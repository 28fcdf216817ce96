"""How a command of the runtime image ends: an exit code, and one line when something went wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TERMINATION_LOG = Path("/dev/termination-log")
"""What stands in it, Kubernetes shows as the container's end (`kubectl describe pod`)."""


class Refused(Exception):
    """Why this container cannot do its work, and what to do about it."""


def exit_code(command: Callable[[], int], termination_log: Path = TERMINATION_LOG) -> int:
    """Run a command; whatever goes wrong is one line, in the log and for `kubectl describe pod`."""
    try:
        return command()
    except Refused as error:
        text = str(error)
    except Exception as error:  # noqa: BLE001 - no traceback, ever: this is somebody's kubectl logs
        text = f"a fault of sparkgen's own: {type(error).__name__}: {error}; please report it"
    print(f"error: {text}", file=sys.stderr, flush=True)  # noqa: T201 - the container's log
    with suppress(OSError):
        if termination_log.is_file():  # the kubelet makes it; elsewhere there is none
            termination_log.write_text(text[:4000] + "\n", encoding="utf-8")
    return 1
