"""What an invariant is, and who watches over all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome

if TYPE_CHECKING:
    from sparkgen.simulator.cluster import Executor
    from sparkgen.simulator.driver import Driver, ExecutorStatus
    from sparkgen.simulator.network import Fate
    from sparkgen.simulator.process import AllocatorProcess
    from sparkgen.simulator.world import World


class InvariantBroken(Exception):
    """An invariant does not hold; `text` says what happened."""

    def __init__(self, invariant: str, text: str) -> None:
        super().__init__(f"{invariant}: {text}")
        self.invariant = invariant
        self.text = text


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

    def registers(self, driver: Driver, executor: Executor) -> None:
        """An executor registers."""

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

    def after_sweep(self, *, swept_all: bool) -> None:
        """The allocator has ended, a while ago; it says whether it has swept all."""

    def at_the_end(self) -> None:
        """The driver's pod was deleted, a while ago."""


class Invariants:
    """All invariants of one schedule: what happens is passed on to those who look at it."""

    def __init__(self, world: World, invariants: Sequence[type[Invariant]]) -> None:
        found = [invariant(world) for invariant in invariants]

        def those(name: str) -> list[Callable[..., None]]:
            return [
                getattr(invariant, name)
                for invariant in found
                if getattr(type(invariant), name) is not getattr(Invariant, name)
            ]

        self.sent = _all(those("sent"))
        self.served = _all(those("served"))
        self.answered = _all(those("answered"))
        self.after_round = _all(those("after_round"))
        self.registers = _all(those("registers"))
        self.refuses = _all(those("refuses"))
        self.told = _all(those("told"))
        self.given_up = _all(those("given_up"))
        self.begins_quiet = _all(those("begins_quiet"))
        self.ends_quiet = _all(those("ends_quiet"))
        self.after_sweep = _all(those("after_sweep"))
        self.at_the_end = _all(those("at_the_end"))


def _all(hooks: list[Callable[..., None]]) -> Callable[..., None]:
    """One call for all of them."""

    def call(*args: Any, **kwargs: Any) -> None:
        for hook in hooks:
            hook(*args, **kwargs)

    return call
