"""Telling people: the log as a story, and notices about what a user must know. Values in, lines out.

A secret is in none of the values that this module is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.tuning import Change
from sparkgen.runtime.allocator.report import log_lines
from sparkgen.runtime.allocator.report.event_recorder import Notices
from sparkgen.runtime.allocator.report.log import Journal
from sparkgen.runtime.allocator.report.log_lines import Level
from sparkgen.runtime.allocator.values.actions import Outcome
from sparkgen.runtime.allocator.values.world import Notice


@dataclass(frozen=True, slots=True)
class Teller:
    """What the loop tells, into the journal and to the user (loop.Tells)."""

    journal: Journal
    notices: Notices
    show: Callable[[Round], None]
    """Is given every round: a view draws it."""
    losses: Counter[str] = field(default_factory=Counter)
    """How many executors were lost, by the cause's name."""
    rounds: Counter[str] = field(default_factory=Counter)
    """How many rounds there were: of one kind, named "all"."""

    def round(self, before: Round | None, now: Round, outcomes: list[Outcome]) -> None:
        """A round was made."""
        self.rounds["all"] += 1
        self.losses.update(loss.cause.value for loss in log_lines.new_losses(before, now).values())
        for line in log_lines.lines(before, now, outcomes):
            self.journal.write(line)
        for notice in log_lines.notices(before, now):
            self.notice(notice)
        self.show(now)

    def tuned(self, change: Change) -> None:
        """The settings changed, or could not be read."""
        if change.bad is None:
            self.journal.say(f"tuning.json has changed: {log_lines.settings(change.settings)}")
            return
        text = f"tuning.json cannot be used, and what it said before still holds: {change.bad}"
        self.journal.say(text, Level.WARNING)
        self.notice(Notice("TuningIgnored", text, warning=True))

    def notice(self, notice: Notice) -> None:
        """Something that a user must know."""
        self.notices.notice(notice)
