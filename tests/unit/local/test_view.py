"""What a person sees: lines, and a block on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from sparkgen.local.live import Terminal
from sparkgen.local.status import Status, Tasks, sentence, status
from sparkgen.local.view import History, Plain, cells
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import ExecutorState

NOW = Status(
    {ExecutorState.REGISTERED: 2, ExecutorState.RUNNING: 1, ExecutorState.DRAINING: 1, ExecutorState.GONE: 5},
    4,
    "creating 5",
)


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def test_a_status_is_the_sum_over_profiles() -> None:
    """Executors that leave are not on their way; those that are gone are nowhere."""
    counts = {
        0: {ExecutorState.REGISTERED: 1, ExecutorState.GONE: 2},
        1: {ExecutorState.REGISTERED: 1, ExecutorState.DRAINING: 1},
    }
    made = status(AllocationDecision(AllocatorMemory(), "why", counts=counts), {0: 1, 1: 2})
    assert (made.present, made.wanted, made.reason) == (2, 3, "why")
    assert sentence(made) == "2 of 3 executors (2 registered, 1 draining)"


def test_plain_lines_say_what_is_new_once() -> None:
    """With the seconds since the run began."""
    stream, clock = io.StringIO(), Clock()
    view = Plain(stream, clock)
    view.begin("pi")
    clock.now += 2.5
    view.show(NOW)
    view.show(NOW)
    view.tasks(Tasks(1, 2, 3))
    with view.step("fetching Spark") as tell:
        tell("10 MB")
    view.end()
    assert stream.getvalue().splitlines() == [
        "sparkgen: pi",
        "sparkgen:   2.5 s  creating 5",
        "sparkgen: fetching Spark ...",
    ]


def test_the_drivers_lines_go_to_standard_output_as_they_are(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """Bytes that are no text, too; nothing else is there."""
    stream = io.StringIO()
    Plain(stream).output(b"caf\xe9 [red]\n")
    assert stream.getvalue() == ""
    assert capfdbinary.readouterr().out == b"caf\xe9 [red]\n"


def test_each_executor_has_a_sign_and_each_missing_one_a_gap() -> None:
    """In the order of how far they are."""
    assert "".join(sign for sign, _ in cells(NOW)) == "●●◐◍_"


def test_the_chart_shows_the_last_minute() -> None:
    """A column per second, the highest one full; as many samples as one likes change nothing."""
    history = History(seconds=4)
    for value, now in ((0, 10.0), (1, 11.0), (1, 11.2), (2, 12.9), (4, 13.0)):
        history.sample(value, now)
    assert history.drawn() == " ▂▄█"
    history.sample(0, 20.0)
    assert history.drawn() == ""


def test_a_terminal_shows_executors_tasks_and_the_decision() -> None:
    """Drawn once; the program's lines stand above, without being taken for markup."""
    text = io.StringIO()
    clock = Clock()
    view = Terminal(Console(file=text, force_terminal=True, width=100), clock)
    view.begin("pi · Spark 3.5.8")
    view.show(NOW)
    view.tasks(Tasks(4, 23, 1))
    clock.now += 3
    view.say("a note [bold]")
    view.end()
    drawn = text.getvalue()
    for expected in (
        "a note [bold]",
        "pi · Spark 3.5.8",
        "3 of 4",
        "4 running, 23 done, 1 failed",
        "creating 5",
    ):
        assert expected in drawn
