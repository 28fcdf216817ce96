"""The configurations of a question: parts of a document's spec, applied to the recorded configuration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sparkgen.document.changes import read_changes
from sparkgen.document.node import mapping_node
from sparkgen.document.overlay import assign
from sparkgen.document.setvalues import SetError, parse_set
from sparkgen.document.sources import Reader
from sparkgen.errors import Position, Problem, SparkgenError, path_text
from sparkgen.model.properties import TYPED_PROPERTIES, effective_properties, lookup
from sparkgen.phrases import number_of
from sparkgen.whatif.configuration import DYNAMIC, Configuration, is_task_resource

MOST_RUNS = 64
"""The most replays of one question."""
ANSWERED = (
    *(
        "spark.executor.cores",
        "spark.executor.instances",
        "spark.executor.memory",
        "spark.executor.memoryOverhead",
    ),
    *("spark.executor.memoryOverheadFactor", "spark.executor.pyspark.memory", "spark.memory.offHeap.size"),
    *("spark.task.cpus", "spark.shuffle.service.enabled", "spark.scheduler.minRegisteredResourcesRatio"),
    *("spark.scheduler.maxRegisteredResourcesWaitingTime", "spark.kubernetes.allocation.batch.size"),
    *("spark.kubernetes.allocation.batch.delay", "spark.kubernetes.allocation.maxPendingPods"),
    *(
        f"{DYNAMIC}{name}"
        for name in (
            *("enabled", "minExecutors", "maxExecutors", "initialExecutors", "executorIdleTimeout"),
            *("cachedExecutorIdleTimeout", "schedulerBacklogTimeout", "sustainedSchedulerBacklogTimeout"),
            *("executorAllocationRatio", "shuffleTracking.enabled", "shuffleTracking.timeout"),
        )
    ),
)
"""The properties for which a replay can predict the effect of a change."""


class BadQuestion(SparkgenError):
    """A replay cannot answer the question; the text says why."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A configuration to replay. `spec`: the fields of a document that it sets; `label`: these in words."""

    label: str
    spec: Mapping[str, Any]
    searched: bool = False
    """Whether a search created it, and not the user."""
    removed: frozenset[str] = frozenset()
    """Properties that it has not, although the recorded run may have had them."""

    def properties(self, recorded: Mapping[str, str]) -> dict[str, str]:
        """The recorded Spark properties, changed by this candidate."""
        gone = self.removed | _deleted(self.spec)
        kept = {name: value for name, value in recorded.items() if name not in gone}
        return {**kept, **asked_properties(self.spec)}


def _deleted(spec: Mapping[str, Any]) -> set[str]:
    """The properties whose field is null: they are deleted, as in every overlay."""
    found = set()
    for path, name in TYPED_PROPERTIES.items():
        section = lookup(spec, path[:-1])
        if isinstance(section, dict) and path[-1] in section and section[path[-1]] is None:
            found.add(name)
    return found


def asked_properties(spec: Mapping[str, Any]) -> dict[str, str]:
    """The properties that a part of a spec sets, of those whose effect a replay can predict."""
    given = effective_properties(spec)
    found = {name: value for name, value in given.items() if name in ANSWERED or is_task_resource(name)}
    service = spec.get("shuffleService")
    if isinstance(service, dict):
        # The data of a sidecar is deleted with its pod.
        found["spark.shuffle.service.enabled"] = "false" if service.get("mode") == "sidecar" else "true"
    return found


def from_sets(sets: Sequence[str]) -> list[Candidate]:
    """The candidates of `--set PATH=V1,V2`: all combinations of the values of all options.

    Raises BadQuestion for invalid options, or too many combinations.
    """
    axes = [_axis(text) for text in sets]
    runs = math.prod(len(axis) for axis in axes)
    if axes and runs > MOST_RUNS:
        raise BadQuestion(f"--set asks for {runs} replays; the maximum is {MOST_RUNS}. Give fewer values")
    found = []
    for texts in itertools.product(*axes) if axes else ():
        spec = _spec_of(texts)
        label = ", ".join(text.removeprefix("spec.") for text in texts)
        found.append(Candidate(label, _answered(spec, label)))
    return found


def _axis(text: str) -> list[str]:
    path, equals, values = text.partition("=")
    given = values.split(",")
    if not equals or not path.strip() or not all(given):
        raise BadQuestion(f"--set {text}: write PATH=VALUE, or PATH=VALUE,VALUE to replay each value")
    if "=" in values:
        raise BadQuestion(f"--set {text}: this sets more than one field; use one --set for each field")
    if not path.startswith("spec."):
        raise BadQuestion(f"--set {text}: the path must start with spec., as in spec.executor.instances=4,8")
    return [f"{path}={value}" for value in given]


def _spec_of(texts: Sequence[str]) -> Mapping[str, Any]:
    root = mapping_node(Position("--set", 1, 1), {}, {})
    try:
        for number, text in enumerate(texts, 1):
            for assignment in parse_set(text, "--set", number):
                root = assign(root, assignment)
    except SetError as error:
        raise BadQuestion(_words(error.problem)) from error
    return _section(root.value)


def from_overlay(name: str) -> Candidate:
    """The candidate of an overlay file. Raises BadQuestion if it is unreadable, or changes nothing here."""
    changes = read_changes(Reader(lambda: b""), [name], [], [])
    if changes.problems:
        raise BadQuestion("\n".join(_words(problem) for problem in changes.problems))
    root = changes.apply(mapping_node(Position(name, 1, 1), {}, {}))
    return Candidate(name, _answered(_section(root.value), name))


def _section(value: Any) -> Mapping[str, Any]:
    spec = value.get("spec") if isinstance(value, dict) else None
    if not isinstance(spec, dict):
        return {}
    for name in ("sparkConf", "hadoopConf", "dynamicAllocation", "executor", "allocation", "eventLog"):
        if not isinstance(spec.get(name) or {}, dict):
            raise BadQuestion(f"spec.{name} must be a mapping, not {spec[name]!r}")
    return {**spec, "sparkConf": {str(k): str(v) for k, v in (spec.get("sparkConf") or {}).items()}}


def _answered(spec: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    """The spec without empty sections. Raises BadQuestion if a replay can predict no effect of it."""
    if not asked_properties(spec):
        fields = sorted(f"spec.{path_text(p)}" for p, name in TYPED_PROPERTIES.items() if name in ANSWERED)
        raise BadQuestion(
            f"{label}: a replay cannot predict the effect of this. It can predict that of "
            f"{', '.join(fields)}, "
            "spec.shuffleService, and the same settings in spec.sparkConf"
        )
    return {name: value for name, value in spec.items() if value != {}}


def _words(problem: Problem) -> str:
    found = f" (found: {problem.found})" if problem.found else ""
    step = f"; {problem.next_step}" if problem.next_step else ""
    return f"{problem.position}: {problem.message}{found}{step}"


def search(recorded: Configuration, limit: int) -> list[Candidate]:
    """A limited number of configurations similar to the recorded one, up to `limit` executors.

    They are fixed numbers of executors; dynamic allocation by maximum, idle time-out and shuffle service; and
    other sizes of executors, with the same memory per core.
    """
    counts = _spread(max(1, limit))
    found = [_fixed(recorded, count) for count in counts]
    for most, idle, service in itertools.product(counts[-3:], (10, 60), (False, True)):
        found.append(_dynamic(most, idle, service=service))
    for cores in (1, 2, 4, 8):
        if cores != recorded.cores and cores >= recorded.task_cpus:
            found += [
                _sized(recorded, cores, max(1, math.ceil(count * recorded.cores / cores)))
                for count in counts[-2:]
            ]
    unique = {candidate.label: replace(candidate, searched=True) for candidate in found}
    return [*unique.values()][:MOST_RUNS]


def _spread(limit: int) -> list[int]:
    """1, 2, 4 ... and the limit."""
    powers = [1 << power for power in range(12) if 1 << power < limit]
    return [*powers, limit]


def counted(count: int) -> str:
    """The number of executors in words."""
    return number_of(count, "executor")


def _fixed(recorded: Configuration, count: int) -> Candidate:
    return Candidate(counted(count), {**_not_dynamic(recorded), "executor": {"instances": count}})


def _not_dynamic(recorded: Configuration) -> dict[str, Any]:
    """The section that switches dynamic allocation off; {} if it was off, to keep the overlay minimal."""
    return {} if recorded.dynamic is None else {"dynamicAllocation": {"enabled": False}}


def _dynamic(most: int, idle: int, *, service: bool) -> Candidate:
    section = {"enabled": True, "minExecutors": 0, "maxExecutors": most, "executorIdleTimeout": f"{idle}s"}
    spec: dict[str, Any] = {"dynamicAllocation": section, "executor": {"instances": None}}
    words = f"dynamic, up to {most}, idle {idle} s"
    if not service:
        return Candidate(words, spec)
    return Candidate(f"{words}, shuffle service", {**spec, "shuffleService": {"mode": "daemonset"}})


def _sized(recorded: Configuration, cores: int, count: int) -> Candidate:
    memory = max(512, recorded.memory * cores // max(1, recorded.cores))
    executor = {"instances": count, "cores": cores, "memory": f"{memory}m"}
    spec = {**_not_dynamic(recorded), "executor": executor}
    return Candidate(f"{counted(count)} of {cores} core{'s' * (cores > 1)}", spec)
