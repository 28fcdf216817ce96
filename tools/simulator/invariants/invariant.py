"""What an invariant is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.invariants.hooks import InvariantBroken
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome

if TYPE_CHECKING:
    from simulator.cluster import Executor
    from simulator.driver import Driver, ExecutorStatus
    from simulator.network import Fate
    from simulator.process import AllocatorProcess
    from simulator.world import World


class Invariant:
    """An invariant. The methods are called as things happen; each invariant overrides those that it needs."""

    name = ""

    def __init__(self, world: World) -> None:
        self.world = world

    def broken(self, text: str) -> InvariantBroken:
        """What is raised when it does not hold."""
        return InvariantBroken(self.name, text)

    def sent(self, process: AllocatorProcess, action: Action) -> None:
        """A write is sent."""

    def served(self, process: AllocatorProcess, action: Action) -> None:
        """A write arrives at the API server."""

    def answered(self, process: AllocatorProcess, outcome: ActionOutcome, fate: Fate) -> None:
        """A write is answered, or given up; and what became of it."""

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        """A round was made."""

    def placed(self, executors: Sequence[Executor]) -> None:
        """These executors are about to get their nodes, in one moment."""

    def registers(self, driver: Driver, executor: Executor) -> None:
        """An executor registers."""

    def begins(self, driver: Driver) -> None:
        """Spark gives its first task away."""

    def refuses(self, driver: Driver, id_: int) -> None:
        """The driver is asked to refuse an executor, and does."""

    def told(self, driver: Driver, id_: int, status: ExecutorStatus, loss: Mapping[str, Any]) -> None:
        """The driver is told that an executor is gone."""

    def given_up(self, driver: Driver, id_: int) -> None:
        """The driver was not told in time."""

    def begins_quiet(self) -> None:
        """Nothing has to be done from here on."""

    def ends_quiet(self) -> None:
        """Until here."""

    def took_over(self, process: AllocatorProcess, session: str) -> None:
        """A session is the one that runs from now on, where drivers come and go."""

    def session_over(self, process: AllocatorProcess, why: str) -> None:
        """The allocator ends by itself, where drivers come and go."""

    def all_gone(self) -> None:
        """Command and drivers are gone, since a while, where they come and go."""

    def stuck(self) -> None:
        """Two applications have had time to end one after the other, and this one has not begun."""

    def without_files(self) -> None:
        """The files of executors are gone since a while, and nothing else goes wrong."""

    def after_sweep(self, *, swept_all: bool) -> None:
        """The allocator has ended, a while ago; it says whether it has swept all."""

    def at_the_end(self) -> None:
        """The driver's pod was deleted, a while ago."""
