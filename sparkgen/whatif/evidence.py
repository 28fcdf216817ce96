"""What a recorded run says about its application, for the rules of lint."""

from __future__ import annotations

import re

from sparkgen.eventlog import Recording, read_recording
from sparkgen.lint.evidence import Evidence
from sparkgen.whatif.study import Question, study

_RUN = re.compile(r"(?P<application>.+)-[0-9a-f]{8}(?:-[0-9a-z]+)*")
"""An application id of sparkgen's scheduler: the run's name, and a part that tells attempts apart."""
_LONGEST = 253
"""The largest number of characters of a name in a cluster. An id in another log may have any length."""


def evidence_of(log: str) -> Evidence:
    """Returns the evidence in a log. Raises SparkgenError if the log cannot be read or replayed."""
    recording = read_recording(log)
    result = study(recording, Question())
    return Evidence(
        source=log,
        application=application_of(recording),
        heap_used=result.facts.heap_used,
        useful_tasks=(result.facts.limit or 0) * result.replayed.settings.slots,
        held=result.facts.held,
        executor_seconds=result.truth.executor_seconds,
    )


def application_of(recording: Recording) -> str:
    """Returns the name of a run's application; "" if sparkgen did not start the run."""
    if not recording.properties.get("spark.master", "").startswith("sparkgen://"):
        return ""
    return application_of_id(recording.application_id)


def application_of_id(name: str) -> str:
    """Returns the application of a run's id, as in "pi-0123abcd-x1y2z"; "" for any other id."""
    run = _RUN.fullmatch(name) if len(name) <= _LONGEST else None
    return run["application"] if run else ""
