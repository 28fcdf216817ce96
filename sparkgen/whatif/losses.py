"""The losses of a recorded run: executors, the attempts that ended with them, and stages that ran again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sparkgen.eventlog import Executor, Recording, Stage, Tasks
from sparkgen.eventlog.recording import LOST, SUCCEEDED, WITHOUT_INPUT

LET_GO = ("killed by driver", "explicit termination request", "scale down", "idle")
"""Parts of Spark's reasons for executors that its dynamic allocation removed."""


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses of a run. A replay does not repeat them."""

    executors: frozenset[int]
    """Indexes of executors that were removed before the work was done, but not by dynamic allocation."""
    attempts: int
    """The number of task attempts that ended with their executor, or whose input was lost."""
    stages: int
    """The number of stage attempts that ran because output was lost."""
    outputs: int
    """The number of tasks whose output was lost while their stage ran."""

    def __bool__(self) -> bool:
        return bool(self.executors or self.attempts or self.stages or self.outputs)


def losses(recording: Recording, *, dynamic: bool) -> Losses:
    """The losses of a run. `dynamic`: Spark removed idle executors."""
    done = max((stage.tasks.finished[row] for stage in recording.stages for row in _rows(stage)), default=0.0)
    died = {
        stage.tasks.executor[row]
        for stage in recording.stages
        for row in _rows(stage)
        if stage.tasks.outcome[row] == LOST
    }
    lost = {
        place
        for place, executor in enumerate(recording.executors)
        if executor.removed is not None and executor.removed < done and not _let_go(executor, dynamic=dynamic)
    }
    return Losses(
        executors=frozenset(died | lost),
        attempts=sum(
            stage.tasks.outcome[row] in (LOST, WITHOUT_INPUT)
            for stage in recording.stages
            for row in _rows(stage)
        ),
        stages=sum(stage.attempt > 0 for stage in recording.stages),
        outputs=recording.lost_output,
    )


def _rows(stage: Stage) -> range:
    return range(len(stage.tasks))


def _let_go(executor: Executor, *, dynamic: bool) -> bool:
    said = executor.reason.lower()
    return dynamic and any(words in said for words in LET_GO)


def without_reruns(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages as they would be without losses: each has one attempt, and each task succeeds once.

    A later attempt of a stage runs the tasks that the first attempt did not finish, and those whose output
    was lost. Tasks that the first attempt lacks are taken from later attempts, in the order of their launch.
    """
    attempts: dict[int, list[Stage]] = {}
    for stage in stages:
        attempts.setdefault(stage.id, []).append(stage)
    whole = [found[0] if len(found) == 1 else _merged(found) for found in attempts.values()]
    return tuple(sorted(whole, key=lambda stage: (stage.submitted, stage.id)))


def _merged(attempts: Sequence[Stage]) -> Stage:
    first, ended = attempts[0], attempts[0]
    tasks, have = Tasks(), _succeeded(attempts[0])
    for row in _rows(first):
        if first.tasks.index[row] in have or len(attempts) == 1:
            tasks.take(first.tasks, row, first.tasks.index[row])
    free = (place for place in range(first.size) if place not in have)
    for later in attempts[1:]:
        given: dict[int, int] = {}
        """Task of the later attempt -> task of the stage."""
        done = _succeeded(later)
        for row in sorted(_rows(later), key=lambda row: later.tasks.launched[row]):
            own = later.tasks.index[row]
            if own in done and own not in given and (place := next(free, None)) is not None:
                given[own] = place
            if own in given:
                tasks.take(later.tasks, row, given[own])
        if given:
            ended = later
    return replace(first, completed=ended.completed, failure=ended.failure, tasks=tasks)


def _succeeded(stage: Stage) -> set[int]:
    return {stage.tasks.index[row] for row in _rows(stage) if stage.tasks.outcome[row] == SUCCEEDED}
