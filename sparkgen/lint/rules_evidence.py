"""Rules that use recorded runs. Without `--evidence`, they find nothing. Sizes in MiB."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from sparkgen.grammar.whole import whole
from sparkgen.lint.evidence import Evidence
from sparkgen.lint.findings import COST, PRODUCTION, WARNING, Finding, rule
from sparkgen.lint.subject import Subject

SPARE = 1.5
"""The proposed heap, as a multiple of the peak heap."""
SMALLEST_HEAP = 512
HELD = 0.1
"""The part of the executors' time above which held executors are a finding."""
_TRACKING = "spark.dynamicAllocation.shuffleTracking"


@rule("SG283", WARNING, PRODUCTION, COST)
def unused_memory(subject: Subject) -> Iterator[Finding]:
    """More than twice the heap that executors used in any recorded run."""
    most = max((one for one in subject.evidence), key=lambda one: one.heap_used, default=None)
    if most is None or not most.heap_used:
        return
    heap = subject.application.executor.memory.heap
    enough = max(SMALLEST_HEAP, -(-int(most.heap_used * SPARE) // 64) * 64)
    if heap > 2 * most.heap_used and heap > enough:
        yield Finding(
            subject.property_path("spark.executor.memory"),
            f"executors used at most {most.heap_used} MiB of heap in {most.source}",
            f"{heap} MiB",
            f"at most {2 * most.heap_used} MiB, twice that much",
            f"set `memory: {enough}m`, and run it again: other data may have a higher peak",
        )


@rule("SG284", WARNING, PRODUCTION, COST)
def useless_executors(subject: Subject) -> Iterator[Finding]:
    """Executors beyond the number up to which the application gets faster."""
    known = [one for one in subject.evidence if one.useful_tasks]
    executors = subject.application.executors
    most = executors.maximum if executors.dynamic else executors.instances
    if not known or most is None:
        return
    widest = max(known, key=lambda one: one.useful_tasks)
    limit = -(-widest.useful_tasks // _slots(subject))
    if most > limit:
        name = "spark.dynamicAllocation.maxExecutors" if executors.dynamic else "spark.executor.instances"
        yield Finding(
            subject.property_path(name),
            f"a replay of {widest.source} is not faster with more than {limit} executors",
            str(most),
            f"at most {limit}",
            f"set it to {limit}; `sparkgen whatif {shlex.quote(widest.source)}` shows time and cost of other "
            "numbers",
        )


@rule("SG285", WARNING, PRODUCTION, COST)
def held_executors(subject: Subject) -> Iterator[Finding]:
    """Executors that stay idle because shuffle tracking keeps their output."""
    if not _tracks_for_ever(subject):
        return
    most = max(subject.evidence, key=_part_held, default=None)
    if most is not None and _part_held(most) > HELD:
        yield Finding(
            subject.facts.path("dynamicAllocation"),
            f"idle executors with shuffle output stayed for {most.held:.0f} of "
            f"{most.executor_seconds:.0f} executor-seconds past their timeout in {most.source}",
            allowed=f"at most {HELD:.0%}",
            next_step=(
                "use a `shuffleService`, or set `shuffleTrackingTimeout`: output that is read later is "
                "then recomputed"
            ),
            on_key=True,
        )


def _part_held(one: Evidence) -> float:
    return one.held / one.executor_seconds if one.executor_seconds > 0 else 0.0


def _slots(subject: Subject) -> int:
    """The number of tasks that an executor runs at one time."""
    cpus = whole(subject.facts.properties.get("spark.task.cpus", "1")) or 1
    return max(1, subject.application.executor.cores // cpus)


def _tracks_for_ever(subject: Subject) -> bool:
    facts, application = subject.facts, subject.application
    kept_elsewhere = application.shuffle is not None or facts.is_true("spark.shuffle.service.enabled")
    bounded = f"{_TRACKING}.timeout" in facts.properties
    tracked = facts.is_true(f"{_TRACKING}.enabled", True)
    return application.executors.dynamic and tracked and not (kept_elsewhere or bounded)
