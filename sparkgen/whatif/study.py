"""A question and its answers: the recorded configuration replayed first, then each candidate."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sparkgen.eventlog import Recording, silent
from sparkgen.whatif.candidates import Candidate, asked_properties, search
from sparkgen.whatif.cluster import Cluster
from sparkgen.whatif.configuration import MAXIMUM, Configuration, configuration
from sparkgen.whatif.doubts import doubts, of_capacity, of_error, of_room
from sparkgen.whatif.findings import Facts, advice, facts, limit
from sparkgen.whatif.looks import Looks, looks_for
from sparkgen.whatif.outcome import Outcome, recorded
from sparkgen.whatif.parallelism import follows, split_anew
from sparkgen.whatif.prices import Cost, Prices, core_hours, cost
from sparkgen.whatif.recorded import most_executors, recorded_properties, understood, with_most
from sparkgen.whatif.remark import Remark
from sparkgen.whatif.replay import ReplayStopped, replay, with_fixed
from sparkgen.whatif.sizes import may_spill, sized
from sparkgen.whatif.workload import Workload

MOST_SWEPT = 24
"""The most fixed numbers of executors on a page."""
SLOWER = 1.1
"""The best configuration may take this many times as long as the recorded one."""


class RangeCause(str, enum.Enum):
    """Why a wall time has a range. A sentence may change, a code does not."""

    EXECUTOR_SIZE = "ExecutorSize"
    """The law for executors of another size is not certain (sizes.py)."""
    TASKS_FOLLOW_CORES = "TasksFollowCores"
    """Spark may have chosen the number of tasks by the cores (parallelism.py)."""


@dataclass(frozen=True, slots=True)
class Run:
    """A candidate's replay. `stopped`: why it has no result; then `outcome` is None."""

    label: str
    candidate: Candidate | None
    """None: the recorded configuration."""
    settings: Configuration
    outcome: Outcome | None
    cost: Cost | None
    stopped: str = ""
    span: tuple[float, float] | None = None
    """The least and the most wall time, if the wall time is not certain."""
    span_causes: tuple[RangeCause, ...] = ()
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """All results for a recording and a question."""

    recording: Recording
    truth: Outcome
    truth_cost: Cost | None
    replayed: Run
    """The recorded configuration."""
    baseline: Run
    """The recorded configuration in the question's cluster; `replayed` if the question has none."""
    runs: tuple[Run, ...]
    facts: Facts
    advice: tuple[Remark, ...]
    doubts: tuple[Remark, ...]
    """Remarks about what a replay does not know of this log, or does differently."""
    loss: float | None
    """The seconds that losing an executor halfway through costs; None if there is no executor then."""
    best: Run | None
    """The cheapest candidate that takes at most a tenth longer than the recorded configuration."""
    work: Workload
    currency: str
    sweep: tuple[tuple[int, Outcome, float], ...] = ()
    """Fixed numbers of executors, each with its outcome, and its cost or core-hours."""

    @property
    def wall_error(self) -> float | None:
        """The relative error in wall time of the replay of the recorded configuration: 0.1 is 10 % too long.

        None if this replay has no result.
        """
        return _error(self.truth, self.replayed.outcome)[0]

    @property
    def executor_error(self) -> float | None:
        """The relative error in executor-seconds; None if the replay has no result."""
        return _error(self.truth, self.replayed.outcome)[1]

    @property
    def stuck(self) -> tuple[Run, ...]:
        """The replays that never end, of the recorded configuration and of the candidates."""
        return tuple(run for run in (self.replayed, *self.runs) if run.outcome is None)

    @property
    def shown(self) -> tuple[tuple[Run, int], ...]:
        """The runs for a table, each with the number of other runs of a search that have the same result."""
        alike: dict[object, list[Run]] = {}
        for place, run in enumerate((self.replayed, *self.runs)):
            searched = run.candidate is not None and run.candidate.searched
            alike.setdefault(_result(run) if searched else place, []).append(run)
        return tuple((self.best if self.best in runs else runs[0], len(runs) - 1) for runs in alike.values())

    @property
    def best_costs_more(self) -> bool:
        """Whether the recorded configuration costs less than the best candidate."""
        return self.best is not None and price(self.baseline) < price(self.best)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a recording."""

    candidates: Sequence[Candidate] = ()
    search: bool = False
    sweep: bool = False
    """Whether to replay all fixed numbers of executors, up to the limit."""
    prices: Prices | None = None
    cluster: Cluster = field(default_factory=Cluster)


def study(recording: Recording, question: Question, progress: Callable[[int], None] = silent) -> Study:
    """The answer to a question. Raises SparkgenError if the log or a candidate's setting cannot be used.

    `progress` is called with the number of finished replays.
    """
    found = understood(recording)
    settings, work = found.settings, found.work
    properties = recorded_properties(recording)
    peak = max((max(stage.tasks.peak, default=0) for stage in recording.stages), default=0)
    following, largest = follows(recording, properties), most_executors(recording)
    asker = _Asker(work, settings, properties, question, peak, following, largest, looks_for(work))
    truth = recorded(recording, settings.all_slots, found.asked)
    replayed = asker.run("as recorded", None, settings, Cluster())
    most = asker.limit(settings) if replayed.outcome is not None else None
    candidates = [*question.candidates, *(search(settings, most or 1) if question.search else ())]
    runs, baseline = [], replayed
    if question.cluster != Cluster():
        baseline = asker.run("as recorded, in this cluster", None, settings)
        runs.append(baseline)
    for done, candidate in enumerate(candidates, 1):
        runs.append(asker.run(candidate.label, candidate, asker.settings_of(candidate)))
        progress(done)
    most_replayed = replayed.outcome.most if replayed.outcome else None
    known = (
        *work.assumed,
        *doubts(recording, properties, found.lost),
        *of_capacity(truth.most, most_replayed, dynamic=settings.dynamic is not None),
    )
    said = facts(recording, settings, work.critical_path, most)
    return Study(
        recording=recording,
        truth=truth,
        truth_cost=asker.cost_of(truth, settings),
        replayed=replayed,
        runs=tuple(runs),
        facts=said,
        advice=tuple(advice(said, truth, settings)),
        doubts=(*of_error(*_error(truth, replayed.outcome), known), *known),
        loss=asker.loss(settings, replayed),
        best=_best(baseline, runs),
        baseline=baseline,
        work=work,
        currency=question.prices.currency if question.prices else "",
        sweep=asker.sweep(settings, most) if question.sweep and most is not None else (),
    )


def _error(truth: Outcome, replayed: Outcome | None) -> tuple[float | None, float | None]:
    """The relative errors of a replay in wall time and in executor-seconds."""
    if replayed is None:
        return None, None
    wall = _part(replayed.wall, truth.wall)
    return wall, _part(replayed.executor_seconds, truth.executor_seconds)


@dataclass(frozen=True, slots=True)
class _Asker:
    """Replays of one recording."""

    work: Workload
    recorded: Configuration
    properties: Mapping[str, str]
    question: Question
    peak: int
    """The peak of one task's execution memory in bytes, 0 if not known."""
    following: frozenset[int]
    """Ids of stages whose number of tasks may depend on the cores."""
    most: int
    """The most executors of a candidate that sets no maximum."""
    looks: Looks

    def settings_of(self, candidate: Candidate) -> Configuration:
        """The settings of a candidate, with the other resource profiles as in the log."""
        asked = configuration(candidate.properties(self.properties))
        asked = replace(asked, profiles=self.recorded.profiles)
        return asked if MAXIMUM in asked_properties(candidate.spec) else with_most(asked, self.most)

    def run(
        self,
        label: str,
        candidate: Candidate | None,
        settings: Configuration,
        cluster: Cluster | None = None,
    ) -> Run:
        other = sized(self.work, self.recorded, settings)
        where = cluster or self.question.cluster
        work = other.work if other else self.work
        ends = [other.least, other.most] if other else []
        causes = [RangeCause.EXECUTOR_SIZE] if other else []
        if (anew := split_anew(work, self.following, settings)) is not None:
            ends.append(anew)
            causes.append(RangeCause.TASKS_FOLLOW_CORES)
        try:
            outcome = replay(work, settings, where, self.looks)
            walls = [replay(one, settings, where, self.looks).wall for one in ends]
        except ReplayStopped as stopped:
            return Run(label, candidate, settings, None, None, str(stopped))
        span = (min(*walls, outcome.wall), max(*walls, outcome.wall)) if walls else None
        remarks = (*(may_spill(self.peak, settings) if other else ()), *of_room(settings, where))
        costs = self.cost_of(outcome, settings)
        return Run(label, candidate, settings, outcome, costs, "", span, tuple(causes), remarks)

    def cost_of(self, outcome: Outcome, settings: Configuration) -> Cost | None:
        if self.question.prices is None:
            return None
        return cost(outcome, settings, self._driver(), self.question.prices)

    def _driver(self) -> tuple[float, float]:
        """The driver's cores, and its memory in GiB."""
        asked = {
            name.replace("spark.driver.", "spark.executor."): value
            for name, value in self.properties.items()
            if name in ("spark.driver.cores", "spark.driver.memory", "spark.driver.memoryOverhead")
        }
        found = configuration(asked)
        return float(found.cores), found.executor_memory / 1024

    def _wall(self, settings: Configuration, cluster: Cluster) -> float:
        try:
            return replay(self.work, settings, cluster, self.looks).wall
        except ReplayStopped:
            return math.inf

    def limit(self, settings: Configuration) -> int | None:
        """The fewest executors, all present from the start, that are as fast as any number."""
        widest = max((len(stage.tasks) for stage in self.work.stages), default=1)
        together = max(1, -(-widest // settings.slots))
        quiet = replace(self.question.cluster, losses_per_hour=0.0, lose_at=(), capacity=None, ready=None)

        def wall(count: int) -> float:
            return self._wall(with_fixed(settings, count), quiet)

        return limit(wall, together)

    def sweep(self, settings: Configuration, most: int) -> tuple[tuple[int, Outcome, float], ...]:
        counts = sorted({max(1, round(most * part / MOST_SWEPT)) for part in range(1, MOST_SWEPT + 1)})
        runs = [(count, self.run("", None, with_fixed(settings, count))) for count in counts]
        return tuple((count, run.outcome, price(run)) for count, run in runs if run.outcome is not None)

    def loss(self, settings: Configuration, replayed: Run) -> float | None:
        if replayed.outcome is None:
            return None
        lost = Cluster(lose_at=(replayed.outcome.wall / 2,))
        outcome = self.run("", None, settings, lost).outcome
        if outcome is None or outcome.lost <= replayed.outcome.lost:
            return None
        return max(0.0, outcome.wall - replayed.outcome.wall)


def _best(baseline: Run, runs: Sequence[Run]) -> Run | None:
    if baseline.outcome is None:
        return None
    longest = baseline.outcome.wall * SLOWER
    asked = [run for run in runs if run.candidate is not None]
    good = [run for run in asked if run.outcome is not None and run.outcome.wall <= longest]
    return min(good, key=lambda run: (price(run), run.label), default=None)


def _result(run: Run) -> object:
    """The result of a run as a table shows it: runs with equal values look the same to people."""
    if run.outcome is None:
        return run.stopped
    one = run.outcome
    wall = round(one.wall, 1) if one.wall < 60 else round(one.wall)
    return wall, round(one.executor_seconds), one.most, round(one.idle, 2), round(price(run), 3), run.span


def price(run: Run) -> float:
    """The value by which runs are compared: their cost, or the core-hours of their executors."""
    if run.outcome is None:
        return float("inf")
    if run.cost is not None and run.cost.on_demand is not None:
        return run.cost.on_demand
    return core_hours(run.outcome, run.settings)


def _part(found: float, truth: float) -> float:
    return found / truth - 1 if truth > 0 else 0.0
