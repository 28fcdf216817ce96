"""Removals that take long: each has its share of the time."""

from __future__ import annotations

from collections.abc import Callable

from sparkgen.runtime.janitor.removal import RemovalOutcome, Removed
from sparkgen.runtime.janitor.sweeper import PendingRemoval, Sweeper
from sparkgen.runtime.janitor.values import Owner, OwnerRemoval, Trash


class World:
    """A disk on which each removal takes so many seconds, and a clock."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self.now = 0.0
        self.gone: list[str] = []
        self.sweeper = Sweeper(self.remove, lambda: self.now, self.note, lambda *_: None)
        for name in seconds:
            self.sweeper.begin(Trash("/data", name))

    def remove(self, trash: Trash, expired: Callable[[], bool]) -> Removed:
        """Work in steps of a tenth of a second."""
        while self.seconds[trash.name] > 0.01:
            if expired():
                return Removed(RemovalOutcome.UNFINISHED)
            self.seconds[trash.name] -= 0.1
            self.now += 0.1
        return Removed(RemovalOutcome.GONE)

    def note(self, trash: Trash, _: PendingRemoval) -> None:
        """Remember what is gone."""
        self.gone.append(trash.name)


def test_small_ones_do_not_wait_for_a_great_one() -> None:
    """All of them are gone in the first round, and the great one has all time that is left."""
    world = World({"great": 100.0, **{f"small{number}": 0.2 for number in range(10)}})
    assert world.sweeper.sweep(30.0)
    assert len(world.gone) == 10
    assert 29.9 <= world.now <= 30.2
    for number in range(2, 5):
        assert world.sweeper.sweep(number * 30.0) is (number < 4)
    assert world.gone[-1] == "great"


def test_many_great_ones_have_their_turns() -> None:
    """Those that waited longest come first, when not all have their turn in a round."""
    world = World({f"great{number}": 2.0 for number in range(100)})
    for _ in range(50):
        world.sweeper.sweep(world.now + 5.0)
    assert len(world.gone) == 100


def test_one_in_two_directories_is_one() -> None:
    """It is gone when both are."""
    world = World({"first": 1.0, "second": 2.0})
    both = OwnerRemoval(Owner("team", "uid"), "it is over")
    world.sweeper.forget_others(())
    for name in ("first", "second"):
        world.sweeper.begin(Trash("/data", name), both)
    assert not world.sweeper.sweep(30.0)
    assert world.gone == ["second"]
