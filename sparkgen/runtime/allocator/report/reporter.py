"""Telling people: the log, and notices about what a user must know. Values in, lines out.

A secret is in none of the values that this module is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.tuning import TuningChange
from sparkgen.runtime.allocator.report import log_lines, notices
from sparkgen.runtime.allocator.report.event_recorder import EventRecorder
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel
from sparkgen.runtime.allocator.values.actions import ActionOutcome
from sparkgen.runtime.allocator.values.backend import Notice


@dataclass(frozen=True, slots=True)
class Reporter:
    """What the loop tells, into the log and to the user (loop.RoundReporter)."""

    log: Log
    events: EventRecorder
    show: Callable[[Round], None]
    """Is given every round: a view draws it."""
    losses: Counter[str] = field(default_factory=Counter)
    """How many executors were lost, by the cause's name."""
    rounds: Counter[str] = field(default_factory=Counter)
    """How many rounds there were: of one kind, named "all"."""

    def round(self, before: Round | None, now: Round, outcomes: list[ActionOutcome]) -> None:
        """A round was made."""
        self.rounds["all"] += 1
        self.losses.update(loss.cause.value for loss in notices.new_losses(before, now).values())
        for line in log_lines.lines(before, now, outcomes):
            self.log.write(line)
        for notice in notices.notices(before, now):
            self.notice(notice)
        self.show(now)

    def gap(self, reason: Hindrance) -> None:
        """All executors have to be looked at again."""
        self.log.say(LogEvent.GAP, f"listing all executors again: {reason}", hindrance=reason.facts)

    def tuning_changed(self, change: TuningChange) -> None:
        """The settings changed, or could not be read."""
        if change.bad is None:
            self.log.say(LogEvent.TUNING, f"tuning.json has changed: {log_lines.settings(change.settings)}")
            return
        text = f"ignoring an invalid tuning.json, and keeping the previous settings: {change.bad}"
        ignored = Hindrance(Code.INVALID, text)
        self.log.say(LogEvent.TUNING, text, LogLevel.WARNING, hindrance=ignored.facts)
        self.notice(Notice("TuningIgnored", ignored, warning=True))

    def notice(self, notice: Notice) -> None:
        """Something that a user must know."""
        self.events.notice(notice)
