"""The cluster of a replay, and the allocator in it, whose production `decide` creates and deletes the pods.

This module does not decide how many executors there are: it passes Spark's target to `decide`, and carries
out the decisions after measured or given times.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from sparkgen.runtime.allocator.decide.apply_outcomes import apply_outcomes
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome, Create
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import Cause, Loss, ObservedExecutor, PodPhase, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile
from sparkgen.runtime.kubernetes.answers import Answer

WRITE = 0.03
"""Seconds that a write to the API server takes."""
SHORTEST_ROUND = 0.02
"""The least seconds between two decisions, as in the allocator's loop."""
LOOKS_PER_DECISION = 8
"""A decision takes as long for each executor as so many looks at it (looks.Looks)."""
ENDING = 1.0
"""Seconds from a deletion until the executor is gone."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The limits of the cluster. By default there are none: a node is always free."""

    capacity: int | None = None
    """The number of executors that fit, by quota or nodes; None: any number."""
    ready: int | None = None
    """The number of these that fit on existing nodes; more wait for new nodes. None: any number."""
    scale_up: float = 90.0
    """Seconds until a new node is ready."""
    losses_per_hour: float = 0.0
    """How often per hour an executor loses its spot node."""
    lose_at: tuple[float, ...] = ()
    """Times at which the executor that has run longest is lost, in seconds."""
    seed: int = 1


@dataclass(slots=True)
class Pod:
    """An executor's pod."""

    id: int
    created: float
    profile: int = 0
    began: float | None = None
    """When it began to run on a node: its cost counts from then on."""
    registered: float | None = None
    ended: float | None = None
    loss: Loss | None = None


@dataclass(slots=True)
class Pods:
    """All pods of a replay. `later` calls a function at a time.

    `registered` is called with an id, a profile and the time; `gone` with an id and the time; `look` with a
    number of looks at executors.
    """

    settings: AllocationSettings
    cluster: Cluster
    delay: Callable[[int, float], float]
    """The seconds that the nth executor takes to register if it is requested at a time."""
    later: Callable[[float, Callable[[float], None]], None]
    registered: Callable[[int, int, float], None]
    gone: Callable[[int, float], None]
    look: Callable[[int], None]
    targets: dict[int, int] = field(default_factory=dict)
    """Resource profile -> the number of executors that Spark wants."""
    kills: set[int] = field(default_factory=set)
    pods: dict[int, Pod] = field(default_factory=dict)
    ended: list[Pod] = field(default_factory=list)
    _waiting: dict[int, Pod] = field(default_factory=dict)
    """The `pods` without a node."""
    _there: dict[int, ObservedExecutor] = field(default_factory=dict)
    _registered: set[int] = field(default_factory=set)
    _memory: AllocatorMemory = field(default_factory=AllocatorMemory)
    _outcomes: list[ActionOutcome] = field(default_factory=list)
    _decided_at: float = -math.inf
    _due: float | None = None
    _chance: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.cluster.seed)  # noqa: S311 - the numbers must be reproducible

    def decide_soon(self, now: float) -> None:
        """Decide after a change, as soon as the loop would."""
        self._at(max(now, self._decided_at + SHORTEST_ROUND))

    def _at(self, time: float) -> None:
        if self._due is None or time < self._due:
            self._due = time
            self.later(time, self._round)

    def _round(self, now: float) -> None:
        if self._due is None or now < self._due:
            return  # an earlier round has already decided
        self._due, self._decided_at = None, now
        self.look(LOOKS_PER_DECISION * len(self._there))
        self._memory = apply_outcomes(self._memory, self._outcomes, now)
        self._outcomes = []
        snapshot = Snapshot(complete=True, executors=dict(self._there), listed_at=now)
        decision = decide(snapshot, self._wanted(), self._memory, self.settings, now)
        self._memory = decision.memory
        for id_ in decision.gone:
            self.kills.discard(id_)
            self._registered.discard(id_)
        for action in decision.actions:
            self.later(now + WRITE, partial(self._done, action))
        if decision.wake_at is not None:
            self._at(max(decision.wake_at, now + SHORTEST_ROUND))

    def _wanted(self) -> DriverTarget:
        return DriverTarget(
            phase=DriverPhase.RUNNING,
            session="replay",
            dynamic=self.settings.dynamic,
            executors=dict(self.targets),
            profiles={profile: Profile() for profile in self.targets if profile},
            registered=frozenset(self._registered),
            kills=frozenset(self.kills),
        )

    def _done(self, action: Action, now: float) -> None:
        self._outcomes.append(ActionOutcome(action, Answer.DONE, uid=f"pod-{action.id}"))
        if isinstance(action, Create):
            self._create(action.id, action.profile, now)
        elif action.id in self._there:
            self._there[action.id] = replace(self._there[action.id], deleting=True)
            self.later(now + ENDING, lambda at: self._end(action.id, at))
        self.decide_soon(now)

    def _create(self, id_: int, profile: int, now: float) -> None:
        self.pods[id_] = self._waiting[id_] = Pod(id_, now, profile)
        self._there[id_] = ObservedExecutor(id_, profile, f"exec-{id_}", f"pod-{id_}", PodPhase.PENDING, now)
        self._place(now)

    def _place(self, now: float) -> None:
        """Give nodes to pods without a node, the oldest first, as far as there is room."""
        running = len(self.pods) - len(self._waiting)
        for pod in [*self._waiting.values()]:
            if self.cluster.capacity is not None and running >= self.cluster.capacity:
                return
            running += 1
            del self._waiting[pod.id]
            new_node = self.cluster.ready is not None and running > self.cluster.ready
            begins = now + (self.cluster.scale_up if new_node else 0.0)
            registers = begins + max(0.0, self.delay(pod.id, pod.created - WRITE) - WRITE)
            self.later(begins, partial(self._run, pod.id))
            self.later(registers, partial(self._register, pod.id))

    def _run(self, id_: int, now: float) -> None:
        pod, seen = self.pods.get(id_), self._there.get(id_)
        if pod is not None and seen is not None and not seen.deleting:
            pod.began = now
            self._there[id_] = replace(seen, phase=PodPhase.RUNNING, node=f"node-{id_}", since=now)
            self.decide_soon(now)

    def _register(self, id_: int, now: float) -> None:
        pod = self.pods.get(id_)
        if pod is None or self._there[id_].deleting:
            return
        pod.registered = now
        self._registered.add(id_)
        self.registered(id_, pod.profile, now)
        self.decide_soon(now)
        if self.cluster.losses_per_hour > 0:
            lives = self._chance.expovariate(self.cluster.losses_per_hour / 3600)
            self.later(now + lives, partial(self.lose, id_))

    def lose(self, id_: int, now: float) -> None:
        """Remove the executor's node, as a provider reclaims a spot node."""
        if id_ in self.pods:
            lost = Loss(Cause.PREEMPTED, f"the node of executor {id_} was reclaimed")
            self._there[id_] = replace(self._there[id_], phase=PodPhase.FAILED, loss=lost)
            self._close(id_, now)
            self.later(now + ENDING, partial(self._forget, id_))
            self.decide_soon(now)

    def _end(self, id_: int, now: float) -> None:
        self._close(id_, now)
        self._forget(id_, now)

    def _close(self, id_: int, now: float) -> None:
        pod = self.pods.pop(id_, None)
        self._waiting.pop(id_, None)
        if pod is None:
            return
        pod.ended = now
        self.ended.append(pod)
        if pod.registered is not None:
            self.gone(id_, now)
        self._place(now)

    def _forget(self, id_: int, now: float) -> None:
        self._there.pop(id_, None)
        self.decide_soon(now)
