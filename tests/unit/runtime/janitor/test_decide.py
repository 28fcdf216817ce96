"""Which applications' files go: one situation each."""

from __future__ import annotations

from dataclasses import replace

from sparkgen.runtime.janitor.decide import decide
from sparkgen.runtime.janitor.values import (
    Drivers,
    DriversAnswer,
    JanitorDecision,
    JanitorMemory,
    JanitorSettings,
    JanitorView,
    Owner,
    OwnerState,
    owner_of,
)

A, B, C = (Owner("team", name) for name in ("uid-a", "uid-b", "uid-c"))
SETTINGS = JanitorSettings(grace=300, without_access=86_400, pressure=0.85)
DENIED = Drivers(DriversAnswer.DENIED, why="403")
UNKNOWN = Drivers(DriversAnswer.UNKNOWN, why="no answer")


def whole(*running: Owner) -> Drivers:
    """A whole list with these drivers running."""
    return Drivers(DriversAnswer.WHOLE, frozenset(owner.uid for owner in running))


def view(drivers: Drivers, *owners: Owner, used: float = 0.1, held: tuple[Owner, ...] = ()) -> JanitorView:
    """Sub-directories of these owners, and what the cluster says of their namespace."""
    return JanitorView(frozenset(owners), frozenset(held), {"team": drivers}, used)


def gone(decision: JanitorDecision) -> list[Owner]:
    """What is removed, in its order."""
    return [removal.owner for removal in decision.removals]


def test_a_driver_that_runs_keeps_its_files_however_full_the_disk_is() -> None:
    """And time does not matter."""
    decision = decide(view(whole(A), A, used=1.0), JanitorMemory(), SETTINGS, 1e9)
    assert (gone(decision), decision.states) == ([], {A: OwnerState.RUNNING})


def test_files_go_after_the_grace() -> None:
    """It is counted from when the driver was first seen to be gone, not from when it went."""
    first = decide(view(whole(), A), JanitorMemory(), SETTINGS, 1000)
    assert (gone(first), first.memory.finished) == ([], {A: 1000})
    assert gone(decide(view(whole(), A), first.memory, SETTINGS, 1299)) == []
    last = decide(view(whole(), A), first.memory, SETTINGS, 1300)
    assert gone(last) == [A]
    assert last.removals[0].why == "its driver has been gone for 300 s"


def test_nothing_is_concluded_without_a_whole_list() -> None:
    """Neither at first, nor for one that was over: its time goes on, and a list has to say it again."""
    assert decide(view(UNKNOWN, A), JanitorMemory(), SETTINGS, 1000).memory == JanitorMemory()
    over = JanitorMemory(finished={A: 1000})
    decision = decide(view(UNKNOWN, A, used=1.0), over, SETTINGS, 99_999)
    assert (gone(decision), decision.memory, decision.states) == ([], over, {A: OwnerState.UNKNOWN})
    assert gone(decide(view(whole(), A), decision.memory, SETTINGS, 100_000)) == [A]
    missing = JanitorView(frozenset({A}), frozenset(), {}, 0.1)
    assert gone(decide(missing, over, SETTINGS, 99_999)) == []


def test_a_namespace_that_is_closed_is_given_a_day() -> None:
    """Its application was removed together with the janitor's right; or the right is only late."""
    first = decide(view(DENIED, A, used=1.0), JanitorMemory(), SETTINGS, 1000)
    assert (gone(first), first.states) == ([], {A: OwnerState.DENIED})
    assert gone(decide(view(DENIED, A), first.memory, SETTINGS, 1000 + 86_399)) == []
    assert gone(decide(view(DENIED, A), first.memory, SETTINGS, 1000 + 86_400)) == [A]
    never = replace(SETTINGS, without_access=0)
    assert gone(decide(view(DENIED, A), first.memory, never, 1e9)) == []


def test_an_answer_ends_the_row_of_refusals() -> None:
    """A right that comes and goes must not add up to a day; no answer adds nothing, and takes nothing."""
    denied = JanitorMemory(denied={A: 1000})
    assert decide(view(whole(A), A), denied, SETTINGS, 2000).memory.denied == {}
    assert decide(view(UNKNOWN, A), denied, SETTINGS, 2000).memory.denied == {A: 1000}
    assert gone(decide(view(UNKNOWN, A), denied, SETTINGS, 1e9)) == []


def test_what_was_over_before_its_right_went_is_over() -> None:
    """The usual end: the job completes, and later its application is removed."""
    decision = decide(view(DENIED, A), JanitorMemory(finished={A: 1000}), SETTINGS, 1300)
    assert (gone(decision), decision.states) == ([A], {A: OwnerState.FINISHED})


def test_under_pressure_the_longest_finished_go_first() -> None:
    """Without grace; only as long as the pressure lasts; never one that runs."""
    memory = JanitorMemory(finished={A: 1000, B: 900})
    decision = decide(view(whole(C), A, B, C, used=0.9), memory, SETTINGS, 1010)
    assert gone(decision) == [B, A]
    assert all(removal.pressed for removal in decision.removals)
    assert decision.removals[0].why == "its driver is gone, and 90% of the disk is used"


def test_what_an_executor_here_has_open_stays() -> None:
    """Whatever the list says, and however full the disk is."""
    memory = JanitorMemory(finished={A: 0}, denied={})
    assert gone(decide(view(whole(), A, used=1.0, held=(A,)), memory, SETTINGS, 1e9)) == []


def test_only_what_is_on_the_disk_is_remembered() -> None:
    """Memory is bounded by the disk."""
    memory = JanitorMemory(finished={A: 0, B: 0}, denied={C: 0})
    assert decide(view(whole(), A), memory, SETTINGS, 1).memory == JanitorMemory(finished={A: 0})


def test_names_of_folders() -> None:
    """Namespace and UID; what else is in a directory belongs to nobody."""
    assert owner_of("team_3f0b1c9e-6c1e-4a52") == Owner("team", "3f0b1c9e-6c1e-4a52")
    others = ("registeredExecutors.rdb", "blockmgr-1", ".trash-team_a", "Team_a", "team_", "_a", "lost+found")
    assert [owner_of(name) for name in others] == [None] * len(others)
    assert A.folder == "team_uid-a"
