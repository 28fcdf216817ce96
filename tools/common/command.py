"""Run commands that must succeed, and wait for what others do."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from common.cachedir import ToolError

Found = TypeVar("Found")


def run(
    *command: str,
    failed: str = "",
    input_text: str | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a command. Returns its standard output.

    Raises ToolError if its exit code is not 0: with `failed`, by default the command, and with the end of its
    standard error.
    """
    done = subprocess.run(
        command, input=input_text, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        failed = failed or f"`{' '.join(command)[:300]}` failed ({done.returncode})"
        said = (done.stderr or done.stdout).strip()
        raise ToolError(f"{failed}:\n{said[-3000:]}" if "\n" in said else f"{failed}: {said}")
    return done.stdout


def wait_for(look: Callable[[], Found], seconds: float, pause: float = 0.1) -> Found:
    """Look again and again until something is found. Returns what the last look found.

    That is nothing (a false value) if it is not there within so many seconds.
    """
    deadline = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(pause)
    return found
