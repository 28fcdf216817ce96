"""Which applications' shuffle files go now: a pure function of disk, cluster and memory.

An application is over when a whole list, asked for after its sub-directory was there, does not have its
driver's pod among those that have not ended. A pod that has ended never runs again, and one that was deleted
never comes back under its UID: so what was once over stays over, and nothing else is ever concluded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sparkgen.runtime.janitor.types import (
    Answer,
    Decision,
    Drivers,
    Memory,
    Owner,
    Removal,
    Settings,
    Sight,
    State,
)

NOT_ASKED = Drivers(Answer.UNKNOWN, why="its namespace was not asked about")


def decide(sight: Sight, memory: Memory, settings: Settings, now: float) -> Decision:
    """What to remove at `now`, and what to remember."""
    states = {owner: _state(owner, sight, memory) for owner in sorted(sight.owners)}
    finished = {o: memory.finished.get(o, now) for o, state in states.items() if state is State.FINISHED}
    # A list without an answer says nothing: time goes on from when it began.
    waiting = {o for o, state in states.items() if state is State.UNKNOWN}
    kept = {o: since for o, since in memory.finished.items() if o in waiting}
    denied = {
        o: memory.denied.get(o, now)
        for o, state in states.items()
        if state is State.DENIED or (o in waiting and o in memory.denied)
    }
    removals = (*_over(finished, sight, settings, now), *_denied(states, denied, sight, settings, now))
    return Decision(Memory({**kept, **finished}, denied), removals, states)


def _state(owner: Owner, sight: Sight, memory: Memory) -> State:
    drivers = sight.drivers.get(owner.namespace, NOT_ASKED)
    match drivers.answer:
        case Answer.WHOLE:
            return State.RUNNING if owner.uid in drivers.running else State.FINISHED
        case Answer.DENIED:  # what was over before its RoleBinding went is over
            return State.FINISHED if owner in memory.finished else State.DENIED
        case Answer.UNKNOWN:
            return State.UNKNOWN


def _over(finished: Mapping[Owner, float], sight: Sight, settings: Settings, now: float) -> Iterable[Removal]:
    """Those that are over: after their grace, or at once when the disk fills up; the longest over first."""
    pressed = sight.used > settings.pressure
    for owner, since in sorted(finished.items(), key=lambda item: (item[1], item[0])):
        if owner in sight.held:
            continue
        if now - since >= settings.grace:
            yield Removal(owner, f"its driver has been gone for {now - since:.0f} s")
        elif pressed:
            why = f"its driver is gone, and {sight.used:.0%} of the disk is used"
            yield Removal(owner, why, pressed=True)


def _denied(
    states: Mapping[Owner, State],
    denied: Mapping[Owner, float],
    sight: Sight,
    settings: Settings,
    now: float,
) -> Iterable[Removal]:
    """Those of namespaces that nobody may look into any more: their application was removed altogether."""
    for owner, since in sorted(denied.items(), key=lambda item: (item[1], item[0])):
        if states[owner] is not State.DENIED or owner in sight.held or not settings.without_access:
            continue
        if now - since >= settings.without_access:
            yield Removal(owner, f"its namespace has been closed to the janitor for {now - since:.0f} s")
