"""What an event log says to the rules of policy: read, and replayed with other numbers of executors."""

from __future__ import annotations

import re

from sparkgen.eventlog import Recording, read_recording
from sparkgen.lint.evidence import Evidence

_RUN = re.compile(r"(?P<application>.+)-[0-9a-f]{8}(?:-[0-9a-z]+)*")
"""An application id that the scheduler of sparkgen gives: the run's name, and what tells attempts apart."""
_LONGEST = 253
"""Characters of a name in a cluster. What another log says may be as long as it likes."""


def evidence_of(log: str) -> Evidence:
    """The evidence of a log. SparkgenError where it cannot be read, or no replay can answer for it."""
    from sparkgen.whatif.study import Question, study  # noqa: PLC0415 - for this option alone

    recording = read_recording(log)
    found = study(recording, Question())
    return Evidence(
        source=log,
        application=application_of(recording),
        heap_used=found.facts.heap_used,
        useful_tasks=(found.facts.limit or 0) * found.replayed.settings.slots,
        held=found.facts.held,
        executor_seconds=found.truth.executor_seconds,
    )


def application_of(recording: Recording) -> str:
    """The name of the application that a run is of; "" where sparkgen did not start it."""
    if not recording.properties.get("spark.master", "").startswith("sparkgen://"):
        return ""
    name = recording.application_id
    run = _RUN.fullmatch(name) if len(name) <= _LONGEST else None
    return run["application"] if run else ""
