"""A small world for laws about decisions: a cluster, a driver and the wire between them, on its own clock.

It is the allocator's loop with everything around it replaced by values. Faults are chosen by the test.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.decide.apply_outcomes import apply_outcomes
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import (
    Cause,
    Loss,
    ObservedExecutor,
    PodPhase,
    Snapshot,
    Waiting,
)
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile
from sparkgen.runtime.kubernetes.answers import Answer


@dataclass
class World:
    """A cluster of pods and a driver. `faults` is the chance (0 to 1) that a step of it goes wrong."""

    settings: AllocationSettings
    choose: random.Random
    faults: float = 0.0
    now: float = 1000.0
    memory: AllocatorMemory = field(default_factory=AllocatorMemory)
    target: DriverTarget = field(default_factory=DriverTarget)
    pods: dict[int, ObservedExecutor] = field(default_factory=dict)
    view: Snapshot = field(default_factory=Snapshot)
    vanished: dict[int, ObservedExecutor] = field(default_factory=dict)
    started: set[int] = field(default_factory=set)
    may_start: frozenset[int] = frozenset()
    in_flight: list[Create | Delete] = field(default_factory=list)
    outcomes: list[ActionOutcome] = field(default_factory=list)
    created: list[int] = field(default_factory=list)
    decision: AllocationDecision | None = None
    full: set[int] = field(default_factory=set)
    """Profiles for whose pods no node has room."""

    # --- the allocator -------------------------------------------------------------------------

    def allocate(self) -> AllocationDecision:
        """One turn of the loop: absorb, decide, act, publish. Checks the laws that hold at every turn."""
        self.memory = apply_outcomes(self.memory, self.outcomes, self.now, self.choose.random())
        self.outcomes = []
        view = replace(self.view, started=frozenset(self.started))
        decision = decide(view, self.target, self.memory, self.settings, self.now)
        self.check(view, decision)
        self.memory, self.decision = decision.memory, decision
        self.in_flight += decision.actions
        self.may_start = decision.start
        return decision

    def check(self, view: Snapshot, decision: AllocationDecision) -> None:
        """The laws of one decision."""
        situation = executor_states.situation(view, self.target, decision.memory, self.settings, self.now)
        fresh = [a for a in decision.actions if isinstance(a, Create) and not a.again]
        wanted = situation.wanted()
        for profile, count in situation.active().items():  # the new requests are among the active ones
            new = sum(1 for action in fresh if action.profile == profile)
            assert not new or count <= wanted.get(profile, 0), "above target"
        assert not {a.id for a in fresh} & set(self.created), "an id is used twice"
        self.check_ports(view, fresh, decision)
        self.created += [a.id for a in fresh]
        open_writes = len(self.in_flight) + len(decision.actions)
        assert not decision.actions or open_writes <= 16, "more writes in flight than the bound"
        for profile in {action.profile for action in fresh}:
            there = self._coming(profile, decision) | {a.id for a in fresh if a.profile == profile}
            assert len(there) <= wanted[profile], "creates what is there already, and was not seen"
            new = {action.id for action in fresh if action.profile == profile}
            waiting = {id_ for id_ in there - new if self.pods[id_].phase is PodPhase.PENDING}
            assert len(waiting | new) <= self.settings.max_unschedulable, "too many have no node"
        if not view.complete:
            missing = {id_ for id_ in decision.gone if id_ not in view.executors}
            assert not missing - set(self.memory.losses), "concludes from a partial view"

    def check_ports(self, view: Snapshot, fresh: list[Create], decision: AllocationDecision) -> None:
        """No host port is given to two executors of which one is seen, or was asked for."""
        if self.settings.host_ports is None:
            assert all(action.port is None for action in fresh)
            return
        new = {action.id for action in fresh}
        seen = [pod.port for id_, pod in view.executors.items() if not executor_states.ended(pod)]
        asked = {id_: request.port for id_, request in decision.memory.requests.items() if id_ not in new}
        ports = [action.port for action in fresh]
        assert len(set(ports)) == len(ports), "a port is given twice in one decision"
        assert not set(ports) & {*seen, *asked.values()}, "a port is given that somebody has"

    def _coming(self, profile: int, decision: AllocationDecision) -> set[int]:
        """Executors of a profile that are there in truth, seen or not, and that nobody means to remove."""
        leaving = {*self.target.kills, *self.target.lost, *self.target.refused, *decision.memory.removals}
        pods = [pod for pod in self.pods.values() if pod.profile == profile]
        return {pod.id for pod in pods if not pod.deleting and not executor_states.ended(pod)} - leaving

    def restart(self) -> None:
        """The allocator dies and comes back: what it remembers is lost, but for the highest id."""
        self.memory = AllocatorMemory(next_id=self.memory.next_id)
        self.outcomes, self.view = [], Snapshot()
        # What was on the wire arrives, or not; nobody waits for the answer.
        for action in self.in_flight:
            if self.choose.random() < 0.5:
                self._apply(action)
        self.in_flight = []

    # --- the API server ------------------------------------------------------------------------

    def answer_one(self) -> None:
        """The server answers a write, in any order."""
        if not self.in_flight:
            return
        action = self.in_flight.pop(self.choose.randrange(len(self.in_flight)))
        answer = Answer.DONE
        if self.choose.random() < self.faults:
            answer = self.choose.choice([Answer.UNKNOWN, Answer.BUSY, Answer.REFUSED])
        if answer is Answer.DONE or (answer is Answer.UNKNOWN and self.choose.random() < 0.5):
            self._apply(action)
        self.outcomes.append(ActionOutcome(action, answer, answer.value))

    def _apply(self, action: Create | Delete) -> None:
        if isinstance(action, Create):
            if action.id not in self.pods and action.id not in self.vanished:
                name = f"exec-{action.id}"
                pod = ObservedExecutor(
                    action.id, action.profile, name, name, PodPhase.PENDING, self.now, port=action.port
                )
                self.pods[action.id] = pod
        elif pod_ := self.pods.get(action.id):
            target, running = self.target, self.target.phase is DriverPhase.RUNNING
            asked = target.kills | target.lost | target.refused
            assert not running or action.id not in target.registered - asked or executor_states.ended(pod_), (
                "a registered executor is deleted unasked"
            )
            if action.forced or pod_.phase is not PodPhase.RUNNING:
                self._vanish(action.id)
            else:
                self.pods[action.id] = replace(pod_, deleting=True)

    def _vanish(self, id_: int) -> None:
        self.vanished[id_] = self.pods.pop(id_)

    def list(self) -> None:
        """The allocator reads a whole list."""
        self.view = Snapshot(True, dict(self.pods), self.now, dict(self.vanished))

    def watch(self) -> None:
        """The watch brings everything that has happened, or breaks and leaves an old view."""
        if self.choose.random() < self.faults:
            self.view = replace(self.view, complete=False)
        elif self.view.complete:
            self.view = replace(self.view, executors=dict(self.pods), vanished=dict(self.vanished))

    # --- nodes, pods and Spark -----------------------------------------------------------------

    def live(self) -> None:
        """Every pod takes a step: it starts, registers, or ends."""
        for id_, pod in list(self.pods.items()):
            if pod.deleting and pod.phase is PodPhase.RUNNING:
                self._end(pod, None)
                self._vanish(id_)
            elif pod.phase is PodPhase.PENDING and pod.profile in self.full:
                self.pods[id_] = replace(pod, waiting=Waiting("Unschedulable", "0/3 nodes are available"))
            elif pod.phase is PodPhase.PENDING:
                self.pods[id_] = replace(pod, phase=PodPhase.RUNNING, since=self.now, node="n", waiting=None)
            elif pod.phase is PodPhase.RUNNING:
                if id_ in self.started and self.choose.random() < 0.5:  # a JVM takes its time
                    self._register(id_)
                if id_ in self.may_start:
                    self.started.add(id_)
                if self.choose.random() < self.faults / 4:
                    loss = Loss(Cause.EVICTED, "evicted")
                    self.pods[id_] = replace(pod, phase=PodPhase.FAILED, since=self.now, loss=loss)
                    self._end(pod, loss)

    def _register(self, id_: int) -> None:
        target = self.target
        speaks = target.phase is DriverPhase.RUNNING
        if speaks and id_ not in target.refused | target.kills | target.lost:
            self.target = replace(target, registered=target.registered | {id_})

    def _end(self, pod: ObservedExecutor, loss: Loss | None) -> None:
        if pod.id in self.target.registered:
            self.target = replace(
                self.target, registered=self.target.registered - {pod.id}, lost=self.target.lost | {pod.id}
            )

    def hear(self) -> None:
        """The driver takes in the report: verdicts end what it waits for; refusals hold unless too late."""
        if self.decision is None or self.target.phase is not DriverPhase.RUNNING:
            return
        gone, target = set(self.decision.gone), self.target
        self.target = replace(
            target,
            revision=target.revision + 1,
            registered=target.registered - gone,
            lost=target.lost - gone,
            kills=target.kills - gone,
            draining=target.draining - gone,
            refused=self.decision.refuse - target.registered,
        )

    def want(self, executors: dict[int, int]) -> None:
        """Spark wants so many executors."""
        profiles = {profile: Profile() for profile in executors}
        self.target = replace(
            self.target,
            phase=DriverPhase.RUNNING,
            session="s",
            dynamic=True,
            executors=executors,
            profiles=profiles,
        )

    def kill_one(self) -> None:
        """Spark removes an executor that is idle."""
        if ids := sorted(self.target.registered):
            id_ = self.choose.choice(ids)
            self.target = replace(
                self.target, registered=self.target.registered - {id_}, kills=self.target.kills | {id_}
            )

    def delete_unseen(self) -> None:
        """Somebody deletes a pod while nobody watches: no event will tell."""
        if self.pods and self.faults:
            pod = self.pods.pop(self.choose.choice(sorted(self.pods)))
            self._end(pod, None)
            self.view = replace(self.view, complete=False)

    # --- the end -------------------------------------------------------------------------------

    def settle(self, turns: int = 250) -> None:
        """Faults stop, and everything runs until nothing more changes."""
        self.faults = 0.0
        self.list()
        for _ in range(turns):
            self.now += 1.0
            self.watch()
            self.allocate()
            while self.in_flight:
                self.answer_one()
            self.live()
            self.hear()
