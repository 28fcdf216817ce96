"""Running long commands: what is shown, and what comes back."""

from __future__ import annotations

import io
import sys

import pytest

from common import progress
from sparkgen.local import progress as local_progress


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Always."""
        return True


def test_off_a_terminal_there_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A log gets one line without control characters, on standard error; both streams come back."""
    script = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    assert progress.run("working", [sys.executable, "-c", script]) == (3, "out\nerr\n")
    assert capsys.readouterr() == ("", "working ...\n")


def test_a_count_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line is written over and over, and closed at the end; a log sees nothing of it."""
    progress.count(1, 2, "examples")
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress.count(1, 2, "examples")
    progress.count(2, 2, "examples")
    assert terminal.getvalue() == "\r1 of 2 examples\r2 of 2 examples\n"


def test_on_a_terminal_the_line_counts_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same line is written again while the command runs, and closed when it has ended."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(local_progress, "TICK_SECONDS", 0.05)
    code, _ = progress.run("working", [sys.executable, "-c", "import time; time.sleep(0.3)"])
    assert code == 0
    assert terminal.getvalue().startswith("\rworking ... 0 s\rworking ... 0 s")
    assert terminal.getvalue().endswith("\n")
