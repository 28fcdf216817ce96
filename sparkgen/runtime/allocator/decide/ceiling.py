"""The reviewed maximum: how many executors there may be of all resource profiles together. Pure.

It holds whatever the driver reports: user code can read the driver's token and report in its place. Spark's
own maxExecutors holds for each profile, and a program may define any number of profiles.
"""

from __future__ import annotations

from collections.abc import Mapping

from sparkgen.runtime.allocator.values.observed import ExecutorState
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

UNREVIEWED = 1000
"""The maximum if the document has none: enough for nearly every application, and few enough that a mistake
or a false report does not flood a cluster. Whoever needs more sets the field."""

THERE = frozenset(ExecutorState) - {ExecutorState.PLANNED, ExecutorState.GONE}
"""The states that count towards the maximum: an executor that is leaving uses its node until it ends."""


def maximum(settings: AllocationSettings) -> int:
    """The most executors that there may be, of all profiles together."""
    if not settings.dynamic:
        return settings.instances
    if settings.maximum is not None:
        return settings.maximum
    return max(UNREVIEWED, settings.minimum, settings.initial)


def shared(asked: Mapping[int, int], most: int) -> dict[int, int]:
    """Divides `most` executors among profiles: each gets what it asks for, or an equal share if that is less.

    The remainder of the division goes to the profiles with the lowest ids.
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
    """Executors per profile, before the maximum limits them.

    Before the driver's first report, this is what Spark will ask for first
    (Utils.getDynamicAllocationInitialExecutors).
    With static allocation, `instances` counts as it is now, because Spark asks only once; there are no other
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
    """Whether the driver asks for more executors than the maximum."""
    return sum(asked(target, settings).values()) > maximum(settings)


def words(settings: AllocationSettings) -> str:
    """The maximum and the document's field that sets it, as part of a message."""
    most = maximum(settings)
    if not settings.dynamic:
        return f"spec.executor.instances is {most}"
    field = "spec.dynamicAllocation.maxExecutors"
    return (
        f"{field} is {most}"
        if settings.maximum is not None
        else f"{field} is not set, so the maximum is {most}"
    )
