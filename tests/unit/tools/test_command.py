"""Commands that must succeed, waits, and errors of command lines (tools/common/command.py)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from common import command
from common.cachedir import ToolError
from common.command import run, tells_errors, wait_for


def test_what_a_command_prints_is_returned(tmp_path: Path) -> None:
    """It gets the input, the folder and the variables that it is to have, and no others."""
    program = (
        "import os, sys; print(sys.stdin.read(), os.getcwd(), os.environ.get('A'), 'HOME' in os.environ)"
    )
    said = run(sys.executable, "-c", program, input_text="in", cwd=tmp_path, environment={"A": "b"})
    assert said == f"in {os.path.realpath(tmp_path)} b False\n"


@pytest.mark.parametrize(
    ("program", "failed", "message"),
    [
        ("import sys; print('out'); sys.exit('why')", "it is broken", "it is broken:\nout\nwhy"),
        ("print('why'); raise SystemExit(3)", "it is broken", "it is broken:\nwhy"),
        ("raise SystemExit(3)", "", f"`{sys.executable} -c raise SystemExit(3)` failed (3):\n"),
    ],
)
def test_a_command_that_fails_is_told_with_what_it_said(program: str, failed: str, message: str) -> None:
    """Some programs say it on their standard output."""
    with pytest.raises(ToolError) as caught:
        run(sys.executable, "-c", program, failed=failed)
    assert str(caught.value) == message


def test_a_wait_ends_with_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as it is there; with nothing when the time is over, after a last look."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(command.time, "sleep", sleep)
    monkeypatch.setattr(command.time, "monotonic", lambda: now[0])
    looks = iter([0, 0, 7])
    assert wait_for(lambda: next(looks), seconds=5, pause=2) == 7
    assert now == [4.0]
    seen: list[float] = []
    assert wait_for(lambda: seen.append(now[0]), seconds=3, pause=2) is None  # type: ignore[func-returns-value]
    assert seen == [4.0, 6.0, 8.0]


def raises(error: BaseException) -> Callable[[], int]:
    """A command line that does not get far."""

    def main() -> int:
        raise error

    return main


def test_a_command_line_tells_why_it_failed(capsys: pytest.CaptureFixture[str]) -> None:
    """In a line on standard error, and no traceback; what is no such error stays one."""
    assert tells_errors(lambda: 5)() == 5
    assert tells_errors(raises(ToolError("there is no Java")))() == 1
    assert capsys.readouterr() == ("", "error: there is no Java\n")
    assert tells_errors(raises(KeyboardInterrupt()))() == 130
    with pytest.raises(ValueError, match="a bug"):
        tells_errors(raises(ValueError("a bug")))()
