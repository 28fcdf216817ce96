"""How much memory the next executors get in addition, after one was killed for lack of memory. Pure.

The answer follows from the pods: each says how much it got in addition (contract.ANNOTATION_ADDED_MEMORY),
and whether it was killed. So a pod that is seen twice changes nothing, ten executors of one size that are
killed together make one step, and a restarted allocator finds the same answer in the pods that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.decide.draft import Draft
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP
from sparkgen.runtime.allocator.values.observed import Cause, Loss, ObservedExecutor
from sparkgen.runtime.allocator.values.settings import AllocationSettings, MemoryRecovery
from sparkgen.runtime.allocator.values.target import DriverPhase

FIELD = "spec.allocation.memoryOverheadRecovery"


def memory_recovery(draft: Draft) -> Draft:
    """Give the next executors of a profile more memory if one was killed for lack of it."""
    added = _added(draft.situation)
    if added == draft.memory.added_memory:
        return draft
    return draft.remember(replace(draft.memory, added_memory=added or EMPTY_MAP))


def _added(situation: Situation) -> dict[int, int]:
    """MiB in addition, by profile: what an executor has now, or a step more than a killed one had."""
    recovery, memory = situation.settings.memory_recovery, situation.memory
    if recovery is None or situation.target.phase is DriverPhase.STOPPED:
        return {}
    snapshot, added = situation.snapshot, dict(memory.added_memory)
    for pods in (snapshot.vanished, snapshot.executors):
        for id_, seen in pods.items():
            if id_ >= memory.first_id and (needed := _needed(seen, recovery)):
                added[seen.profile] = max(needed, added.get(seen.profile, 0))
    sizes = {profile: min(size, recovery.maximum) for profile, size in added.items()}
    return {profile: size for profile, size in sizes.items() if size}


def _needed(seen: ObservedExecutor, recovery: MemoryRecovery) -> int:
    """The additional memory in MiB for the executor that replaces this one: a step more if it was killed."""
    killed = seen.loss is not None and seen.loss.cause is Cause.OOM
    return seen.added_memory + recovery.step if killed else seen.added_memory


def judged(loss: Loss, seen: ObservedExecutor, settings: AllocationSettings) -> Loss:
    """The loss of an executor, which is not its application's fault if the next one gets more memory.

    So it counts neither as a failed executor nor as a failed attempt of its tasks: they may fail before
    enough steps are made otherwise. At the maximum, it counts as ever.
    """
    recovery = settings.memory_recovery
    if loss.cause is not Cause.OOM or recovery is None or not recovery.step:
        return loss
    if seen.added_memory >= recovery.maximum:
        text = f"executors have {seen.added_memory} MiB more than their profile, the most that {FIELD} allows"
        return replace(loss, message=f"{loss.message}; {text}")
    more = min(seen.added_memory + recovery.step, recovery.maximum)
    text = f"the next executors get at least {more} MiB more than their profile"
    return replace(loss, message=f"{loss.message}; {text}", by_application=False)


def advice(situation: Situation) -> Iterator[Hindrance]:
    """What to write into the document, or the program, so that the next run has enough memory from the start.

    The text after the semicolon is the step (live/hindrances.py).
    """
    for profile, added in sorted(situation.memory.added_memory.items()):
        shape = situation.target.profiles.get(profile)
        size = f"{shape.overhead + added}m" if shape else f"{added} MiB more than now"
        step = f"commit this: spec.executor.memoryOverhead: {size}"
        if profile:
            step = f"set memoryOverhead to {size} in the program's resource profile {profile}"
        whose = f"executors of resource profile {profile}" if profile else "executors"
        text = f"{whose} were killed for lack of memory, so new ones get {added} MiB more"
        yield Hindrance(Code.MEMORY_RAISED, f"{text}; {step}")
