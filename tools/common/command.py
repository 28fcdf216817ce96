"""Run commands that must succeed, wait for what others do, and tell what went wrong."""

from __future__ import annotations

import functools
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ParamSpec, TypeVar

from common import progress
from common.cachedir import ToolError

Found = TypeVar("Found")
Arguments = ParamSpec("Arguments")


def tells_errors(main: Callable[Arguments, int]) -> Callable[Arguments, int]:
    """A command line that says why it cannot do its work: it then returns 1, or 130 on Ctrl-C."""

    @functools.wraps(main)
    def told(*arguments: Arguments.args, **named: Arguments.kwargs) -> int:
        try:
            return main(*arguments, **named)
        except (ToolError, OSError, subprocess.CalledProcessError) as error:
            progress.say(f"error: {error}")
            return 1
        except KeyboardInterrupt:
            return 130

    return told


def run(
    *command: str,
    failed: str = "",
    input_text: str | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a command. Returns its standard output.

    Raises ToolError if its exit code is not 0: with `failed`, by default the command, and with the end of
    what it said.
    """
    done = subprocess.run(
        command, input=input_text, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        failed = failed or f"`{' '.join(command)[:300]}` failed ({done.returncode})"
        raise ToolError(f"{failed}:\n{(done.stdout + done.stderr).strip()[-3000:]}")
    return done.stdout


def wait_for(look: Callable[[], Found], seconds: float, pause: float = 0.1) -> Found:
    """Look again and again until something is found. Returns what the last look found.

    That is nothing (a false value) if it is not there within so many seconds.
    """
    deadline = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(pause)
    return found
