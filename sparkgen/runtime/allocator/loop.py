"""The loop: gather, absorb, decide, act, publish. All that it touches is passed in.

`Loop.step` makes one round and never waits: a simulator calls it with another clock and other ports.
`Loop.run` calls it whenever something is new, and when the last decision asked for it. Nothing is lost when
the process ends between any two lines: the cluster and the session volume know the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sparkgen.runtime.allocator.action_pool import Acts
from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.decide.apply_outcomes import absorb
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.driver.mailbox import Desk, seen_with
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.tuning import Change
from sparkgen.runtime.allocator.values.actions import Outcome
from sparkgen.runtime.allocator.values.clock import Chances
from sparkgen.runtime.allocator.values.memory import Memory
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import Settings
from sparkgen.runtime.allocator.values.target import Target
from sparkgen.runtime.allocator.values.world import Notice

SHORTEST_ROUND = 0.02
"""Seconds between two rounds at least: what happens meanwhile is decided on together."""
LONGEST_ROUND = 10.0
"""Seconds between two rounds at most: whoever asks for its health sees that the loop is alive."""
LOOK_EVERY = 1.0
"""Seconds between two looks at tuning.json."""


class Tuned(Protocol):
    """Settings that may change: `tuning.Followed`, or constant ones."""

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        ...

    def look(self) -> Change | None:
        """Look for news."""
        ...


class Remembers(Protocol):
    """What survives this process: `session.Session`, or a stand-in."""

    def note(self, next_id: int, session: str, first_id: int) -> None:
        """Keep this; before anything is made that depends on it."""
        ...

    def spoke(self, application_id: str, settings: Settings) -> None:
        """A driver runs under this application id."""
        ...

    def tuned_to(self, settings: Settings) -> None:
        """The settings are other ones: the next driver in this pod starts with them."""
        ...


class Tells(Protocol):
    """Who hears what happens."""

    def round(self, before: Round | None, now: Round, outcomes: list[Outcome]) -> None:
        """A round was made."""
        ...

    def tuned(self, change: Change) -> None:
        """The settings changed, or could not be read."""
        ...

    def notice(self, notice: Notice) -> None:
        """Something that a user must know."""
        ...


def nothing(_: str) -> None:
    """Do nothing with it."""


@dataclass(frozen=True, slots=True)
class Ports:
    """All that the loop has of the outside."""

    acts: Acts
    snapshot: Callable[[], Snapshot]
    """What is seen now; `started` is filled in from the desk."""
    desk: Desk
    tuned: Tuned
    remembers: Remembers
    tells: Tells
    chances: Chances
    speaks: Callable[[str], None] = nothing
    """Told the application id of each driver that speaks: executors that are created then belong to it."""


class Loop:
    """One allocator's loop. `memory`: what the one before it left behind (session.Notes)."""

    def __init__(self, ports: Ports, memory: Memory) -> None:
        self._ports = ports
        self._memory = memory
        self._looked_at: float | None = None
        self._application_id = ""

    def run(self) -> None:
        """Make rounds until the desk is closed."""
        desk, clock = self._ports.desk, self._ports.chances.clock
        while not desk.closed:
            made = self.step()
            desk.wait_closed(made.now + SHORTEST_ROUND - clock())
            until = due(made)
            while (left := until - clock()) > 0:
                if desk.wait(min(left, LOOK_EVERY)) or self._look(clock()):
                    break

    def step(self) -> Round:
        """Make one round."""
        ports = self._ports
        outcomes = ports.acts.outcomes()
        now = ports.chances.clock()  # after they came: a time that the server named counts from then on
        self._look(now)
        memory = absorb(self._memory, outcomes, now, ports.chances.random())
        before = ports.desk.last
        made = self._decided(memory, now)
        self._memory = made.decision.memory
        ports.acts.start(made.decision.actions)
        ports.tells.round(before, made, outcomes)
        return made

    def _decided(self, memory: Memory, now: float) -> Round:
        """A round that holds: what it creates is noted, and what it removes was not started meanwhile."""
        ports, chance = self._ports, self._ports.chances.random()
        while True:
            target, settings = ports.desk.target(), ports.tuned.settings
            snapshot = executor_states.of_now(seen_with(ports.snapshot(), ports.desk.started()), memory)
            decision = decide(snapshot, target, memory, settings, now, chance)
            made = Round(now, snapshot, target, settings, decision)
            self._hear(target, settings)
            after = decision.memory
            ports.remembers.note(after.next_id, after.session, after.first_id)
            if ports.desk.commit(made):
                return made

    def _hear(self, target: Target, settings: Settings) -> None:
        """Notice a driver that speaks for the first time."""
        if target.application_id and target.application_id != self._application_id:
            self._application_id = target.application_id
            self._ports.speaks(target.application_id)
            self._ports.remembers.spoke(target.application_id, settings)

    def _look(self, now: float) -> bool:
        """Look at the settings, once in a while; whether they have changed."""
        if self._looked_at is not None and now - self._looked_at < LOOK_EVERY:
            return False
        self._looked_at = now
        change = self._ports.tuned.look()
        if change is None:
            return False
        self._ports.tells.tuned(change)
        if change.bad is not None:
            return False
        self._ports.remembers.tuned_to(change.settings)
        return True


def due(made: Round) -> float:
    """When the round after this one has to be made, if nothing happens before."""
    latest = made.now + LONGEST_ROUND
    return latest if made.decision.wake_at is None else min(latest, made.decision.wake_at)


def remembered(next_id: int, session: str, first_id: int) -> Memory:
    """The memory that a new process begins with."""
    return replace(Memory(), next_id=next_id, session=session, first_id=first_id)
