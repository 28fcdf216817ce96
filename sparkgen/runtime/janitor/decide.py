"""Which applications' shuffle files to remove now: a pure function of disk, cluster and memory.

An application has finished if a whole list, requested after its sub-directory existed, does not have its
driver's pod among the pods that have not ended. A pod that has ended never runs again, and a deleted one
never comes back under its UID. So a finished application stays finished, and nothing else is concluded from a
list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sparkgen.runtime.janitor.values import (
    Drivers,
    DriversAnswer,
    JanitorDecision,
    JanitorMemory,
    JanitorSettings,
    JanitorView,
    Owner,
    OwnerRemoval,
    OwnerState,
)

NOT_ASKED = Drivers(DriversAnswer.UNKNOWN, why="its namespace was not checked")


def decide(
    view: JanitorView, memory: JanitorMemory, settings: JanitorSettings, now: float
) -> JanitorDecision:
    """Returns what to remove at `now`, and what to remember."""
    states = {owner: _state(owner, view, memory) for owner in sorted(view.owners)}
    finished = {o: memory.finished.get(o, now) for o, state in states.items() if state is OwnerState.FINISHED}
    # A failed list proves nothing: the times of earlier findings stay.
    waiting = {o for o, state in states.items() if state is OwnerState.UNKNOWN}
    kept = {o: since for o, since in memory.finished.items() if o in waiting}
    denied = {
        o: memory.denied.get(o, now)
        for o, state in states.items()
        if state is OwnerState.DENIED or (o in waiting and o in memory.denied)
    }
    removals = (*_over(finished, view, settings, now), *_denied(states, denied, view, settings, now))
    return JanitorDecision(JanitorMemory({**kept, **finished}, denied), removals, states)


def _state(owner: Owner, view: JanitorView, memory: JanitorMemory) -> OwnerState:
    drivers = view.drivers.get(owner.namespace, NOT_ASKED)
    match drivers.answer:
        case DriversAnswer.WHOLE:
            return OwnerState.RUNNING if owner.uid in drivers.running else OwnerState.FINISHED
        case DriversAnswer.DENIED:  # finished before its RoleBinding was removed, so still finished
            return OwnerState.FINISHED if owner in memory.finished else OwnerState.DENIED
        case DriversAnswer.UNKNOWN:
            return OwnerState.UNKNOWN


def _over(
    finished: Mapping[Owner, float], view: JanitorView, settings: JanitorSettings, now: float
) -> Iterable[OwnerRemoval]:
    """Finished applications: after their grace, or at once if the disk is filling up; the oldest first."""
    pressed = view.used > settings.pressure
    for owner, since in sorted(finished.items(), key=lambda item: (item[1], item[0])):
        if owner in view.held:
            continue
        if now - since >= settings.grace:
            yield OwnerRemoval(owner, f"its driver has been gone for {now - since:.0f} s")
        elif pressed:
            why = f"its driver is gone, and {view.used:.0%} of the disk is used"
            yield OwnerRemoval(owner, why, pressed=True)


def _denied(
    states: Mapping[Owner, OwnerState],
    denied: Mapping[Owner, float],
    view: JanitorView,
    settings: JanitorSettings,
    now: float,
) -> Iterable[OwnerRemoval]:
    """Applications in namespaces that are no longer readable: the whole application was removed."""
    for owner, since in sorted(denied.items(), key=lambda item: (item[1], item[0])):
        if states[owner] is not OwnerState.DENIED or owner in view.held or not settings.without_access:
            continue
        if now - since >= settings.without_access:
            yield OwnerRemoval(
                owner, f"its namespace has been unreadable for the janitor for {now - since:.0f} s"
            )
