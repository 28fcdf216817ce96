"""The two forms of a log line, and a reader for both: it reads back what was written. Pure.

  text  TIME LEVEL   SENTENCE<tab>FACTS    FACTS is a JSON object
  JSON  one object: the facts, with `time`, `level` and `message`

A sentence may contain untrusted text: a pod's message, a webhook's refusal, the name of an image. In the text
form, all of its white space becomes single blanks, so that the only tab of a line is ours. In JSON, its
quotes are escaped. Releases before the codes wrote neither a tab nor `codes`: their lines have no facts.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkgen.codes import Hindrance, hindrance_of
from sparkgen.jsonvalue import decode
from sparkgen.runtime.kubernetes.untrusted import Malformed, escaped, number_in, shown

FORM = 1
"""The version of the facts, which every line has in the field `codes`."""


class LogLevel(enum.Enum):
    """The importance of a line."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogEvent(enum.StrEnum):
    """The subject of a line."""

    START = "start"
    DRIVER = "driver"
    STOPPED = "stopped"
    """The driver has ended."""
    TARGET = "target"
    DECISION = "decision"
    ANSWER = "answer"
    """An answer of the API server to a creation or deletion that is not a success."""
    LOSS = "loss"
    FAILURE = "failure"
    """The application has to stop."""
    GAP = "gap"
    """All executors have to be listed again."""
    TUNING = "tuning"
    FAULT = "fault"
    """An internal error of the allocator."""
    END = "end"


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the log. `facts`: its content for programs, as JSON values."""

    event: LogEvent
    text: str
    level: LogLevel = LogLevel.INFO
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line that was read. `event` and `facts` as in `LogLine`, or as a later release writes them."""

    event: str
    text: str
    facts: Mapping[str, Any]

    @property
    def wanted(self) -> int | None:
        """How many executors are wanted, all resource profiles together; None if the line has no count."""
        counts = self.facts.get("wanted")
        if not isinstance(counts, dict):
            return None
        try:
            return sum(number_in(counts, profile) or 0 for profile in counts)
        except Malformed:
            return None

    @property
    def hindrances(self) -> tuple[Hindrance, ...]:
        """What keeps executors from starting, the most serious first."""
        found = self.facts.get("hindrances")
        read = map(hindrance_of, found if isinstance(found, list) else ())
        return tuple(hindrance for hindrance in read if hindrance is not None)

    @property
    def hindrance(self) -> Hindrance | None:
        """The line's own hindrance: that of a failure, a loss or an answer."""
        return hindrance_of(self.facts.get("hindrance"))


def sentence(time: str, line: LogLine) -> str:
    """A line for people: without facts, and without a tab."""
    return shown(f"{time} {line.level.value:<7} {' '.join(line.text.split())}")


def text_line(time: str, line: LogLine) -> str:
    """A line in the text form. `time`: a text without blanks."""
    return f"{sentence(time, line)}\t{_json(_facts(line))}"


def json_line(time: str, line: LogLine) -> str:
    """A line in the JSON form."""
    return _json({**_facts(line), "time": time, "level": line.level.value, "message": line.text})


def entries(log: str, *, newest_first: bool = False) -> Iterator[LogEntry]:
    """The lines of a log that have facts, in either form; each line is read when it is needed."""
    lines = log.split("\n")
    for line in reversed(lines) if newest_first else lines:
        entry = read(line)
        if entry is not None:
            yield entry


def read(line: str) -> LogEntry | None:
    """The content of a line; None without facts: from an older release, or cut off."""
    head, tab, facts = line.partition("\t")
    as_json = not tab
    try:
        body = decode(line if as_json else facts)
    except ValueError:
        return None
    if not isinstance(body, dict) or "codes" not in body:
        return None
    parts = head.split(maxsplit=2)
    text = body.get("message") if as_json else parts[2] if len(parts) > 2 else ""
    event = body.get("event")
    return LogEntry(event, text, body) if isinstance(event, str) and isinstance(text, str) else None


def _facts(line: LogLine) -> dict[str, Any]:
    return {**line.facts, "event": line.event.value, "codes": FORM}


def _json(body: Mapping[str, Any]) -> str:
    return escaped(json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str))
