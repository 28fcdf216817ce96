"""Reports rounds of the loop to the log, and as notices to the user.

No value that this module gets contains a secret.
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
    """Reports what the loop does to the log and to the user (implements loop.RoundReporter)."""

    log: Log
    events: EventRecorder
    show: Callable[[Round], None]
    """Called with every round; the live view draws it."""
    losses: Counter[str] = field(default_factory=Counter)
    """The number of lost executors, by the cause's name."""
    rounds: Counter[str] = field(default_factory=Counter)
    """The number of rounds, under the key "all"."""

    def round(self, before: Round | None, now: Round, outcomes: list[ActionOutcome]) -> None:
        """Report a finished round: log lines, notices and counts."""
        self.rounds["all"] += 1
        self.losses.update(loss.cause.value for loss in notices.new_losses(before, now).values())
        for line in log_lines.lines(before, now, outcomes):
            self.log.write(line)
        for notice in notices.notices(before, now):
            self.notice(notice)
        self.show(now)

    def gap(self, reason: Hindrance) -> None:
        """Log that all executors have to be listed again."""
        self.log.say(LogEvent.GAP, f"listing all executors again: {reason}", hindrance=reason.facts)

    def tuning_changed(self, change: TuningChange) -> None:
        """Report that the settings changed, or could not be read."""
        if change.bad is None:
            self.log.say(LogEvent.TUNING, f"tuning.json has changed: {log_lines.settings(change.settings)}")
            return
        text = f"ignoring an invalid tuning.json, and keeping the previous settings: {change.bad}"
        ignored = Hindrance(Code.INVALID, text)
        self.log.say(LogEvent.TUNING, text, LogLevel.WARNING, hindrance=ignored.facts)
        self.notice(Notice("TuningIgnored", ignored, warning=True))

    def notice(self, notice: Notice) -> None:
        """Report something that a user must know."""
        self.events.notice(notice)
