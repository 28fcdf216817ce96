"""What tools tell: plain lines, and on a terminal, lines that count seconds or things."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from sparkgen.local import progress


class Steps:
    """Tells the steps of sparkgen.local: a line that counts seconds on a terminal, one plain line off it."""

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Say when a step begins, and on a terminal how it goes on."""
        if not sys.stderr.isatty():
            say(f"{title} ...")
            yield lambda _: None
            return

        def tell(text: str) -> None:
            print(f"\r{title} ... {text}", end="", file=sys.stderr, flush=True)

        tell("0 s")
        try:
            yield tell
        finally:
            say("")

    def say(self, text: str) -> None:
        """Say something."""
        say(text)


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
    return progress.ended(Steps(), title, command, environment=environment, folder=cwd)
