"""The base class of the invariants."""

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
    """An invariant. Its methods are called at events; each invariant overrides those that it needs."""

    name = ""

    def __init__(self, world: World) -> None:
        self.world = world

    def broken(self, text: str) -> InvariantBroken:
        """The exception to raise if it does not hold."""
        return InvariantBroken(self.name, text)

    def sent(self, process: AllocatorProcess, action: Action) -> None:
        """A write is sent."""

    def served(self, process: AllocatorProcess, action: Action) -> None:
        """A write arrives at the API server."""

    def answered(self, process: AllocatorProcess, outcome: ActionOutcome, fate: Fate) -> None:
        """A write is answered, or has timed out; `fate` is what became of the request."""

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        """The allocator has made a round."""

    def placed(self, executors: Sequence[Executor]) -> None:
        """These executors are about to get their nodes, at the same time."""

    def registers(self, driver: Driver, executor: Executor) -> None:
        """An executor registers."""

    def begins(self, driver: Driver) -> None:
        """Spark begins to assign tasks."""

    def refuses(self, driver: Driver, id_: int) -> None:
        """The driver is asked to refuse an executor, and does."""

    def told(self, driver: Driver, id_: int, status: ExecutorStatus, loss: Mapping[str, Any]) -> None:
        """The driver is told that an executor is gone."""

    def given_up(self, driver: Driver, id_: int) -> None:
        """The driver was not told in time why it lost an executor."""

    def begins_quiet(self) -> None:
        """From now on, nothing has to be done."""

    def ends_quiet(self) -> None:
        """The time in which nothing had to be done ends."""

    def took_over(self, process: AllocatorProcess, session: str) -> None:
        """In sessions: another driver's session is the running one from now on."""

    def session_over(self, process: AllocatorProcess, why: str) -> None:
        """In sessions: the allocator ends by itself."""

    def all_gone(self) -> None:
        """In sessions: command and drivers have been gone for a while."""

    def stuck(self) -> None:
        """Two applications have had time to end one after the other, and this one has not begun."""

    def without_files(self) -> None:
        """The files of executors have been gone for a while, without other faults."""

    def after_sweep(self, *, swept_all: bool) -> None:
        """The allocator ended a while ago; `swept_all`: it reported that it deleted all executors."""

    def at_the_end(self) -> None:
        """The driver's pod was deleted a while ago."""
