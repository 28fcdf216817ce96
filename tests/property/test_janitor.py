"""Laws of the janitor: nothing of a running driver goes, nor on a partial list; all goes in the end."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from sparkgen.runtime.janitor.decide import decide
from sparkgen.runtime.janitor.values import (
    Drivers,
    DriversAnswer,
    JanitorMemory,
    JanitorSettings,
    JanitorView,
    Owner,
)

NAMESPACES = ("team", "other")


class Node:
    """A node in a cluster where drivers come and go, rights do, and the API server answers or not."""

    def __init__(self, choose: random.Random, settings: JanitorSettings) -> None:
        self.choose = choose
        self.settings = settings
        self.now = 0.0
        self.running: set[Owner] = set()
        self.folders: set[Owner] = set()
        self.held: set[Owner] = set()
        self.memory = JanitorMemory()
        self.over_since: dict[Owner, float] = {}
        self.readable_at = dict.fromkeys(NAMESPACES, 0.0)
        self.made = 0

    def begin(self) -> None:
        """A driver begins, and its executors write here."""
        self.made += 1
        owner = Owner(self.choose.choice(NAMESPACES), f"uid-{self.made}")
        self.running.add(owner)
        self.folders.add(owner)

    def end(self) -> None:
        """A driver ends; its executors here may be slower."""
        if self.running:
            owner = self.choose.choice(sorted(self.running))
            self.running.discard(owner)
            self.over_since[owner] = self.now
            if self.choose.random() < 0.3:
                self.held.add(owner)

    def forget(self) -> None:
        """The janitor starts again."""
        self.memory = JanitorMemory()

    def let_go(self) -> None:
        """The executors that were slower have ended."""
        self.held.clear()

    def look(self, answers: list[DriversAnswer]) -> None:
        """One round; the laws that hold in each."""
        drivers = {
            name: Drivers(answer, frozenset(o.uid for o in self.running if o.namespace == name))
            if answer is DriversAnswer.WHOLE
            else Drivers(answer)
            for name in NAMESPACES
            for answer in (self.choose.choice(answers),)
        }
        for name, found in drivers.items():
            if found.answer is DriversAnswer.WHOLE:
                self.readable_at[name] = self.now
        used = self.choose.random()
        view = JanitorView(frozenset(self.folders), frozenset(self.held), drivers, used)
        decision = decide(view, self.memory, self.settings, self.now)
        self.memory = decision.memory
        for removal in decision.removals:
            owner = removal.owner
            answer = drivers[owner.namespace].answer
            assert owner not in self.held, "an executor of it lives here"
            assert answer is not DriversAnswer.UNKNOWN, "nothing was heard of it"
            if owner in self.running:
                silent = self.now - self.readable_at[owner.namespace]
                assert silent >= self.settings.without_access > 0, "it runs, and could be seen to run"
            elif not removal.pressed and answer is DriversAnswer.WHOLE:
                assert self.now - self.over_since[owner] >= self.settings.grace, "without its grace"
            assert not removal.pressed or used > self.settings.pressure
            self.folders.discard(owner)


@given(
    choose=st.randoms(use_true_random=False),
    grace=st.sampled_from([0.0, 300.0]),
    without_access=st.sampled_from([0.0, 3600.0]),
)
def test_nothing_that_runs_goes_and_all_that_is_over_does(
    choose: random.Random, grace: float, without_access: float
) -> None:
    """With refusals, silence, restarts, pressure and executors that are slow to end, in any order."""
    node = Node(choose, JanitorSettings(grace=grace, without_access=without_access))
    for _ in range(120):
        node.now += choose.random() * 60
        step = choose.choice([node.begin, node.end, node.let_go, node.forget, None, None, None])
        if step is None:
            node.look([DriversAnswer.WHOLE, DriversAnswer.WHOLE, DriversAnswer.UNKNOWN, DriversAnswer.DENIED])
        else:
            step()
    node.let_go()
    for _ in range(20):  # all is well again
        node.now += 60
        node.look([DriversAnswer.WHOLE])
    assert node.folders <= node.running
    assert set(node.memory.finished) <= node.folders
