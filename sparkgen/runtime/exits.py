"""How a command of the runtime image ends: an exit code, and one line when something went wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sparkgen.codes import Code, marked

TERMINATION_LOG = Path("/dev/termination-log")
"""What stands in it, Kubernetes shows as the container's end (`kubectl describe pod`)."""


class Refused(Exception):
    """Why this container cannot do its work, and what to do about it.

    `next_step`: what to do, where that is a sentence of its own; `code`: for programs; `exit_code`: the
    container's.
    """

    def __init__(self, text: str, next_step: str = "", code: Code = Code.REFUSED, exit_code: int = 1) -> None:
        super().__init__(text)
        self.next_step = next_step
        self.code = code
        self.exit_code = exit_code


def exit_code(command: Callable[[], int], termination_log: Path = TERMINATION_LOG) -> int:
    """Run a command; what goes wrong is told in the log and for `kubectl describe pod`, without a traceback.

    The termination message has the code before it (`codes.marked`), and the next step on a line of its own.
    """
    try:
        return command()
    except Refused as error:
        refused = error
    except Exception as error:  # noqa: BLE001 - no traceback, ever: this is somebody's kubectl logs
        text = f"internal error in sparkgen: {type(error).__name__}: {error}; please report it"
        refused = Refused(text, code=Code.INTERNAL_ERROR)
    cause = " ".join(str(refused).split())
    lines = [cause, refused.next_step] if refused.next_step else [cause]
    print("error: " + "\n".join(lines), file=sys.stderr, flush=True)  # noqa: T201 - the container's log
    with suppress(OSError):
        if termination_log.is_file():  # the kubelet makes it; elsewhere there is none
            text = marked(refused.code, "\n".join(lines))
            termination_log.write_text(text[:4000] + "\n", encoding="utf-8")
    return refused.exit_code
