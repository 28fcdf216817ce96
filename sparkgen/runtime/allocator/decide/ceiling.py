"""The reviewed maximum: how many executors there may be of all resource profiles together. Pure.

It holds whatever the driver says: its word is that of user code, as both can read the token. Spark's own
maxExecutors holds for each profile, and a program may make any number of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from sparkgen.runtime.allocator.values.observed import ExecutorState
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

UNREVIEWED = 1000
"""The maximum where a document names none: enough for nearly every application, and few enough that a mistake
or a lie does not drown a cluster. Who wants more says so in the document."""

THERE = frozenset(ExecutorState) - {ExecutorState.PLANNED, ExecutorState.GONE}
"""The states that count: an executor that leaves uses its node until it has ended."""


def maximum(settings: AllocationSettings) -> int:
    """How many executors there may be, of all profiles together."""
    if not settings.dynamic:
        return settings.instances
    if settings.maximum is not None:
        return settings.maximum
    return max(UNREVIEWED, settings.minimum, settings.initial)


def shared(asked: Mapping[int, int], most: int) -> dict[int, int]:
    """What each profile gets of `most`: all that it asks for, or the same as the others that ask for more.

    What cannot be divided goes to the profiles with the lowest ids.
    """
    if sum(asked.values()) <= most:
        return dict(asked)
    result, left = {}, most
    in_order = sorted(asked.items(), key=lambda entry: (entry[1], entry[0]))
    for number, (profile, count) in enumerate(in_order):
        result[profile] = min(count, left // (len(in_order) - number))
        left -= result[profile]
        if result[profile] < count:  # from here on all ask for more than there is for each
            rest = sorted(one for one, _ in in_order[number:])
            share, more = divmod(left + result[profile], len(rest))
            return result | {one: share + (place < more) for place, one in enumerate(rest)}
    return result


def asked(target: DriverTarget, settings: AllocationSettings) -> dict[int, int]:
    """Executors per profile before the maximum bounds them.

    Before the driver has spoken it is what Spark will ask for first
    (Utils.getDynamicAllocationInitialExecutors).
    With static allocation `instances` holds as it is now, because Spark never asks again; there are no other
    profiles then (ResourceProfileManager.isSupported).
    """
    if target.phase is DriverPhase.STOPPED:
        return {}
    if target.phase is DriverPhase.SILENT:
        return {0: max(settings.minimum, settings.initial) if settings.dynamic else settings.instances}
    if (
        target.dynamic or settings.dynamic
    ):  # where they differ, the tuning is of a newer commit than the driver
        return dict(target.executors)
    return {0: settings.instances}


def is_reached(target: DriverTarget, settings: AllocationSettings) -> bool:
    """Whether the driver asks for more than there may be."""
    return sum(asked(target, settings).values()) > maximum(settings)


def words(settings: AllocationSettings) -> str:
    """The maximum, and the field of the document that says it."""
    most = maximum(settings)
    if not settings.dynamic:
        return f"spec.executor.instances is {most}"
    field = "spec.dynamicAllocation.maxExecutors"
    return (
        f"{field} is {most}"
        if settings.maximum is not None
        else f"{field} is not set, so the maximum is {most}"
    )
