"""Tries a namespace: first what can be read, then an application that is removed again in any case."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sparkgen.doctor import steps
from sparkgen.doctor.checks import CHECKS, Check, row_of
from sparkgen.doctor.gather import NamespaceFacts
from sparkgen.doctor.values import Row, Verdict, skipped
from sparkgen.thread_map import within
from sparkgen.usecases.trial import END_SECONDS, LOOK_SECONDS, Trial
from sparkgen.usecases.wait import TimeLimit

CHECK_SECONDS = 30.0
"""Seconds for one check that reads."""
_BEFORE_THE_PROBE = (
    "kubernetes",
    "rights",
    "namespace",
    "pod-security",
    "admission",
    "quota",
    "runtime-image",
)
"""The checks without which no application would start."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, in seconds."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


def examine(
    facts: NamespaceFacts,
    limit: TimeLimit,
    tell: Callable[[Row], None],
    clock: Clock,
    *,
    conformance: bool = False,
) -> None:
    """Try everything; `tell` gets each row as soon as it is known. What was started is removed in any case.

    `conformance`: with faults; the application must have been made for them.
    Raises ClusterError if the cluster does not answer the first request, or does not accept the login.
    """
    rows: dict[str, Row] = {}

    def add(row: Row) -> None:
        rows[row.check] = row
        tell(row)

    deadline = limit.deadline - END_SECONDS
    for check in CHECKS:
        add(skipped(check.name, check.needs, rows) or _in_time(check, facts, deadline - clock.now()))
    lacks = skipped("images", _BEFORE_THE_PROBE, rows)
    every = steps.chosen(conformance=conformance)
    if lacks is not None:
        for step in every:
            add(replace(lacks, check=step.name))
        return
    application = Trial(facts, bind_late=conformance)
    try:
        seen = application.start()
        for step in every:
            row = skipped(step.name, step.needs, rows)
            while row is None and (row := steps.row_of(step, seen)) is None:
                clock.pause(LOOK_SECONDS)
                seen = application.look(seen)
                if clock.now() >= deadline:
                    seen = application.over(seen, f"not known within {limit.text}")
            add(row)
    finally:
        add(application.remove(clock.pause))


def _in_time(check: Check, facts: NamespaceFacts, left: float) -> Row:
    seconds = min(CHECK_SECONDS, left)
    try:
        return within(seconds, lambda: row_of(check, facts))
    except TimeoutError:
        return Row(check.name, Verdict.UNKNOWN, f"the API server did not answer within {seconds:.0f} s")
