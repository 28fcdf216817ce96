"""Runs that do not overlap: laws of `turn` for any order of calls, ends and restarts, and for any clocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from sparkgen.runtime.concurrency.decide import DriverSeen, Turn, TurnSeen, turn

Decides = Callable[[DriverSeen, list[DriverSeen], TurnSeen, str], Turn]


@dataclass
class Pod:
    """A pod whose container is at some line of its look, or has let its driver start."""

    seen: DriverSeen
    policy: str
    runs: bool = False
    stuck: bool = False
    number: int = 0
    state: tuple[TurnSeen, int] | None = None
    wants: Turn | None = None


@dataclass
class World:
    """An API server, and the pods of one application; `version`: the ConfigMap's."""

    decides: Decides = turn
    state: TurnSeen = field(default_factory=lambda: TurnSeen("", 0))
    version: int = 0
    pods: dict[str, Pod] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    doomed: set[str] = field(default_factory=set)

    def create(self, created: int, policy: str) -> None:
        """Create a pod, at this time by the clock of an API server."""
        name = f"p{len(self.numbers)}-{len(self.pods)}-{self.version}"
        self.pods.setdefault(
            name, Pod(DriverSeen(name, f"u-{name}", f"{created:03}", (name, name), waits=True), policy)
        )

    def step(self, name: str) -> None:
        """One call of the pod's container, in the order in which it makes them."""
        pod = self.pods[name]
        if pod.runs or pod.stuck:
            return
        if pod.state is None:
            pod.state = self.state, self.version
        elif pod.wants is None:
            others = [one.seen for one in self.pods.values() if one is not pod]
            pod.wants = self.decides(pod.seen, others, pod.state[0], pod.policy)
            self.doomed |= {name for name, _ in pod.wants.ends}
        else:
            wants, version, pod.wants, pod.state = pod.wants, pod.state[1], None, None
            if wants.go is not None:
                pod.runs, pod.number = True, wants.go
                self.numbers.append(wants.go)
            elif wants.take is not None and version == self.version:
                self.state, self.version = TurnSeen(pod.seen.identity, wants.take), self.version + 1

    def looks(self, name: str) -> None:
        """As many calls as it takes at most from the first to the driver's start."""
        for _ in range(6):
            self.step(name)

    def restart(self, name: str) -> None:
        """The container, or the sandbox of the whole pod, begins anew; a driver in it has ended before."""
        pod = self.pods[name]
        pod.runs, pod.state, pod.wants, pod.seen = False, None, None, replace(pod.seen, waits=True)

    def report(self, name: str) -> None:
        """The kubelet reports that the container has ended: some time after it did."""
        pod = self.pods[name]
        pod.seen = replace(pod.seen, waits=not pod.runs, queues=not (pod.runs or pod.stuck))

    def stick(self, name: str) -> None:
        """The pod can do nothing more, or never could: it has no node, or is on one that is gone."""
        self.pods[name].stuck = True

    def end(self, name: str) -> None:
        """The pod has ended, or is gone."""
        del self.pods[name]
        self.doomed.discard(name)

    @property
    def running(self) -> list[str]:
        """The pods whose driver has started."""
        return [name for name, pod in self.pods.items() if pod.runs]


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["create", "step", "step", "step", "looks", "restart", "report", "stick", "end"]),
        st.integers(0, 3),
        st.integers(0, 2),
        st.sampled_from(["Forbid", "Replace"]),
    ),
    max_size=60,
)
Event = tuple[str, int, int, str]


def played(events: list[Event], decides: Decides = turn) -> World:
    """A world after these events. Raises AssertionError if two drivers run in it at one time."""
    world = World(decides)
    for what, which, created, policy in events:
        names = [*world.pods]
        if what == "create" and len(names) < 4:
            world.create(created, policy)
        elif what != "create" and names:
            getattr(world, what)(names[which % len(names)])
        assert len(world.running) <= 1
    return world


@given(EVENTS)
def test_two_drivers_never_run_at_one_time(events: list[Event]) -> None:
    """Whatever the clocks of API servers say, and whenever a container or pod ends or begins anew."""
    played(events)


@given(EVENTS)
def test_a_later_driver_has_a_greater_number(events: list[Event]) -> None:
    """So a sink can refuse what comes from an earlier one; only the same pod has the same number again."""
    numbers = played(events).numbers
    assert numbers == sorted(numbers)


@given(EVENTS)
def test_every_pod_starts_in_the_end(events: list[Event]) -> None:
    """No two wait for each other: once drivers end, all others start, except those that can do nothing."""
    world = played(events)
    for _ in range(4 * len(world.pods)):
        for name in [*world.pods]:
            world.looks(name)
            world.report(name)
        for name in {*world.running[:1], *world.doomed} & {*world.pods}:
            world.end(name)
    assert all(pod.stuck for pod in world.pods.values())


def without_holder(own: DriverSeen, others: list[DriverSeen], state: TurnSeen, policy: str) -> Turn:
    """As `turn` would be if it trusted what the kubelet has reported so far."""
    mine = state.holder == own.identity
    return turn(own, others, state if mine else replace(state, holder=""), policy)


def in_no_order(own: DriverSeen, others: list[DriverSeen], state: TurnSeen, policy: str) -> Turn:
    """As `turn` would be if pods waited for all others."""
    return turn(replace(own, created="999"), others, state, policy)


def behind_the_stuck(own: DriverSeen, others: list[DriverSeen], state: TurnSeen, policy: str) -> Turn:
    """As `turn` would be if pods waited for earlier ones that can do nothing."""
    return turn(own, [replace(one, queues=one.waits) for one in others], state, policy)


def at_once(own: DriverSeen, others: list[DriverSeen], state: TurnSeen, policy: str) -> Turn:
    """As `turn` would be if it started with the decision, and not when the ConfigMap has it."""
    decided = turn(own, others, state, policy)
    return decided if decided.take is None else Turn(go=decided.take)


@pytest.mark.parametrize(
    ("decides", "law"),
    [(without_holder, "one"), (at_once, "one"), (in_no_order, "all"), (behind_the_stuck, "all")],
    ids=["without-holder", "at-once", "in-no-order", "behind-the-stuck"],
)
def test_the_laws_find_a_mistake(decides: Decides, law: str) -> None:
    """Each of these has an example by which a law fails."""

    def fails(events: list[Event]) -> bool:
        try:
            world = played(events, decides)
            if law == "all":
                for _ in range(12):
                    for name in [*world.pods]:
                        world.looks(name)
                        world.report(name)
                    for name in world.running:
                        world.end(name)
                assert all(pod.stuck for pod in world.pods.values())
        except AssertionError:
            return True
        return False

    try:
        find(EVENTS, fails, settings=settings(phases=[Phase.generate], max_examples=2000, deadline=None))
    except NoSuchExample:
        pytest.fail("no example was found")
