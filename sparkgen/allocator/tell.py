"""Telling people: the log as a story, and notices about what a user must know. Values in, lines out.

A secret is in none of the values that this module is given.
"""

from __future__ import annotations

import json
import queue
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TextIO

from sparkgen.allocator import story
from sparkgen.allocator.desk import Round
from sparkgen.allocator.ports import Notice
from sparkgen.allocator.story import Level, Line
from sparkgen.allocator.tuning import Change
from sparkgen.allocator.types import Outcome
from sparkgen.allocator.untrusted import shown

RECENT = 50
"""Lines of the log that /status shows."""
SAME_AGAIN = 600.0
"""Seconds until the same notice is told again."""
NEXT_OF_A_KIND = 10.0
"""Seconds between two notices with one reason and different texts: the log has them all."""
WAITING_NOTICES = 20
"""Notices that wait to be sent, and as many that wait for another try; more than that is left to the log."""
TRY_AGAIN = 30.0
"""Seconds until a notice that could not be sent is sent again."""


@dataclass(slots=True)
class Journal:
    """The log: a line of text each, or of JSON. `now`: the time with its zone, for the lines."""

    stream: TextIO
    now: Callable[[], datetime]
    as_json: bool = False
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last lines, the oldest first."""
    troubles: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last of them that were warnings or errors."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, line: Line) -> None:
        """Write one line; whoever reads the log may be gone. Its text may be anybody's."""
        moment = self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = shown(_text_line(moment, line))
        self.recent.append(text)
        if line.level is not Level.INFO:
            self.troubles.append(text)
        if self.as_json:
            text = shown(_json_line(moment, line))
        try:
            with self._lock:
                self.stream.write(text + "\n")
                self.stream.flush()
        except OSError:
            return

    def say(self, text: str, level: Level = Level.INFO, **facts: Any) -> None:
        """Write a line about something that is no round of the loop."""
        self.write(Line(text, level, facts))


def _text_line(moment: str, line: Line) -> str:
    return f"{moment} {line.level.value:<7} {' '.join(line.text.split())}"


def _json_line(moment: str, line: Line) -> str:
    body: Mapping[str, Any] = {
        **line.facts,
        "time": moment,
        "level": line.level.value,
        "message": line.text,
    }
    return json.dumps(body, ensure_ascii=False, sort_keys=True, default=str)


class Notices:
    """Sends notices to the user, each once, on a thread of its own: the loop never waits for it.

    `send` says whether that is done with; one that is not is tried again, until it is `SAME_AGAIN` old.
    """

    def __init__(self, send: Callable[[Notice], bool], clock: Callable[[], float]) -> None:
        self._send = send
        self._again: deque[tuple[float, float, Notice]] = deque()
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}
        self._last: dict[str, float] = {}
        self._waiting: queue.Queue[Notice] = queue.Queue(WAITING_NOTICES)

    def notice(self, notice: Notice) -> bool:
        """Send it, if it was not sent lately; whether it will be."""
        now, key = self._clock(), (notice.reason, notice.message)
        if now - self._told.get(key, -SAME_AGAIN) < SAME_AGAIN:
            return False
        if now - self._last.get(notice.reason, -NEXT_OF_A_KIND) < NEXT_OF_A_KIND:
            return False
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            return False
        self._told = {told: when for told, when in self._told.items() if now - when < SAME_AGAIN}
        self._told[key] = self._last[notice.reason] = now
        return True

    @property
    def waits(self) -> int:
        """How many wait for another try."""
        return len(self._again)

    def run(self) -> None:
        """Send what comes, for ever: for a thread that does not keep the process."""
        while True:
            self.step()

    def step(self) -> None:
        """Wait for the next one to send, a new one or one whose time has come again, and send it."""
        pause = max(0.0, self._again[0][0] - self._clock()) if self._again else None
        try:
            notice, since = self._waiting.get(timeout=pause), self._clock()
        except queue.Empty:
            _, since, notice = self._again.popleft()
        if self._send(notice):
            return
        due = self._clock() + TRY_AGAIN
        if due - since < SAME_AGAIN and len(self._again) < WAITING_NOTICES:
            self._again.append((due, since, notice))


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
        self.losses.update(loss.cause.value for loss in story.new_losses(before, now).values())
        for line in story.lines(before, now, outcomes):
            self.journal.write(line)
        for notice in story.notices(before, now):
            self.notice(notice)
        self.show(now)

    def tuned(self, change: Change) -> None:
        """The settings changed, or could not be read."""
        if change.bad is None:
            self.journal.say(f"tuning.json has changed: {story.settings(change.settings)}")
            return
        text = f"tuning.json cannot be used, and what it said before still holds: {change.bad}"
        self.journal.say(text, Level.WARNING)
        self.notice(Notice("TuningIgnored", text, warning=True))

    def notice(self, notice: Notice) -> None:
        """Something that a user must know."""
        self.notices.notice(notice)
