"""Run a long command: a line that counts seconds on a terminal, one plain line off it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

TICK_SECONDS = 0.5


def say(text: str) -> None:
    """A plain line for a person, on standard error: standard output belongs to results."""
    print(text, file=sys.stderr, flush=True)


def count(done: int, total: int, what: str) -> None:
    """On a terminal, a line that counts up to `total`; off it, nothing."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r{done} of {total} {what}", end=end, file=sys.stderr, flush=True)


def run(
    title: str,
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run `command` to its end: its exit code, and all it wrote (both streams, in order)."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            code = _watch(process, title, sys.stderr)
        except BaseException:  # an interrupt above all: leave no build behind
            process.terminate()
            process.wait()
            raise
        output.seek(0)
        return code, output.read()


def _watch(process: subprocess.Popen[bytes], title: str, stream: IO[str]) -> int:
    if not stream.isatty():
        say(f"{title} ...")
        return process.wait()
    start = time.monotonic()
    while True:
        stream.write(f"\r{title} ... {time.monotonic() - start:.0f} s")
        stream.flush()
        try:
            code = process.wait(TICK_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        stream.write("\n")
        return code
