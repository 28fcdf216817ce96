"""The loop: gather, apply outcomes, decide, act, publish. Everything it uses is passed in.

`Loop.step` makes one round and never waits: the simulator calls it with another clock and other ports.
`Loop.run` calls it whenever something has changed, and when the last decision asked for it. The process may
end between any two lines without losing anything: the rest is in the cluster and in the session volume.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sparkgen.runtime.allocator.action_pool import ActionRunner
from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.decide.apply_outcomes import apply_outcomes
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox, with_started
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.tuning import TuningChange
from sparkgen.runtime.allocator.values.actions import ActionOutcome
from sparkgen.runtime.allocator.values.backend import Notice
from sparkgen.runtime.allocator.values.clock import ClockAndRandom
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverTarget

SHORTEST_ROUND = 0.02
"""The least seconds between two rounds: events in between are decided together."""
LONGEST_ROUND = 10.0
"""The most seconds between two rounds, so that health checks see that the loop is alive."""
LOOK_EVERY = 1.0
"""Seconds between two checks of tuning.json."""


class SettingsSource(Protocol):
    """Settings that may change: `tuning.TuningFile`, or constant ones."""

    @property
    def settings(self) -> AllocationSettings:
        """The current settings."""
        ...

    def look(self) -> TuningChange | None:
        """Check for a change; None if there is none."""
        ...


class SessionStore(Protocol):
    """Saves what must survive this process: `session.Session`, or a stand-in."""

    def note(self, next_id: int, session: str, first_id: int) -> None:
        """Save these values, before anything is created that depends on them."""
        ...

    def driver_started(self, application_id: str, settings: AllocationSettings) -> None:
        """Record that a driver runs under this application id."""
        ...

    def settings_changed(self, settings: AllocationSettings) -> None:
        """Save changed settings: the next driver in this pod starts with them."""
        ...


class RoundReporter(Protocol):
    """Receives each round's result; implemented by Reporter and by the simulator."""

    def round(self, before: Round | None, now: Round, outcomes: list[ActionOutcome]) -> None:
        """Report a finished round. `outcomes`: of earlier actions, applied in this round."""
        ...

    def tuning_changed(self, change: TuningChange) -> None:
        """Report that the settings changed, or could not be read."""
        ...

    def notice(self, notice: Notice) -> None:
        """Report something that a user must know."""
        ...


def ignore_text(_: str) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class LoopPorts:
    """The loop's connections to the outside."""

    actions: ActionRunner
    snapshot: Callable[[], Snapshot]
    """Returns the current snapshot; the loop fills in `started` from the mailbox."""
    mailbox: DriverMailbox
    settings_source: SettingsSource
    session: SessionStore
    reporter: RoundReporter
    clock_and_random: ClockAndRandom
    set_application_id: Callable[[str], None] = ignore_text
    """Called with each driver's application id: executors created from then on belong to it."""


class Loop:
    """One allocator's loop. `memory`: the memory to start with (`remembered`)."""

    def __init__(self, ports: LoopPorts, memory: AllocatorMemory) -> None:
        self._ports = ports
        self._memory = memory
        self._looked_at: float | None = None
        self._application_id = ""

    def run(self) -> None:
        """Make rounds until the mailbox is closed."""
        mailbox, clock = self._ports.mailbox, self._ports.clock_and_random.clock
        while not mailbox.closed:
            made = self.step()
            mailbox.wait_closed(made.now + SHORTEST_ROUND - clock())
            until = due(made)
            while (left := until - clock()) > 0:
                if mailbox.wait(min(left, LOOK_EVERY)) or self._look(clock()):
                    break

    def step(self) -> Round:
        """Make one round."""
        ports = self._ports
        outcomes = ports.actions.outcomes()
        now = (
            ports.clock_and_random.clock()
        )  # after the outcomes arrived: pauses that the server asked for count from this time
        self._look(now)
        memory = apply_outcomes(self._memory, outcomes, now, ports.clock_and_random.random())
        before = ports.mailbox.last
        made = self._decided(memory, now)
        self._memory = made.decision.memory
        ports.actions.start(made.decision.actions)
        ports.reporter.round(before, made, outcomes)
        return made

    def _decided(self, memory: AllocatorMemory, now: float) -> Round:
        """Returns a published round: its ids are saved, and none of the executors it removes has started."""
        ports, chance = self._ports, self._ports.clock_and_random.random()
        while True:
            target, settings = ports.mailbox.target(), ports.settings_source.settings
            snapshot = executor_states.without_former_pods(
                with_started(ports.snapshot(), ports.mailbox.started()), memory
            )
            decision = decide(snapshot, target, memory, settings, now, chance)
            made = Round(now, snapshot, target, settings, decision)
            self._hear(target, settings)
            after = decision.memory
            ports.session.note(after.next_id, after.session, after.first_id)
            if ports.mailbox.commit(made):
                return made

    def _hear(self, target: DriverTarget, settings: AllocationSettings) -> None:
        """Record a driver that reports for the first time."""
        if target.application_id and target.application_id != self._application_id:
            self._application_id = target.application_id
            self._ports.set_application_id(target.application_id)
            self._ports.session.driver_started(target.application_id, settings)

    def _look(self, now: float) -> bool:
        """Check the settings, at most once in `LOOK_EVERY`; returns whether they have changed."""
        if self._looked_at is not None and now - self._looked_at < LOOK_EVERY:
            return False
        self._looked_at = now
        change = self._ports.settings_source.look()
        if change is None:
            return False
        self._ports.reporter.tuning_changed(change)
        if change.bad is not None:
            return False
        self._ports.session.settings_changed(change.settings)
        return True


def due(made: Round) -> float:
    """When the next round is due, if nothing happens before."""
    latest = made.now + LONGEST_ROUND
    return latest if made.decision.wake_at is None else min(latest, made.decision.wake_at)


def remembered(next_id: int, session: str, first_id: int) -> AllocatorMemory:
    """The memory that a new process starts with."""
    return replace(AllocatorMemory(), next_id=next_id, session=session, first_id=first_id)
