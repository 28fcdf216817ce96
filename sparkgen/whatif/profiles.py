"""Spark's dynamic allocation for all resource profiles: each has its own executors, target and policy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sparkgen.runtime.allocator.decide import ceiling
from sparkgen.whatif.configuration import Configuration, DynamicAllocation
from sparkgen.whatif.policy import AllocationPolicy


@dataclass(slots=True)
class Policies:
    """The policies by profile: the default profile has one at once, others from their first stage on."""

    configuration: Configuration
    settings: DynamicAllocation
    _by_profile: dict[int, AllocationPolicy] = field(default_factory=dict)
    _profile_of: dict[int, int] = field(default_factory=dict)
    """Executor -> its profile."""
    _backlogged: set[int] = field(default_factory=set)
    """The profiles whose timer of growth may run."""

    def __post_init__(self) -> None:
        self._policy(0)

    def _policy(self, profile: int) -> AllocationPolicy:
        if profile not in self._by_profile:
            slots = self.configuration.shape(profile).slots
            most = ceiling.maximum(self.configuration.allocation)
            self._by_profile[profile] = AllocationPolicy(self.settings, slots, most)
        return self._by_profile[profile]

    @property
    def targets(self) -> dict[int, int]:
        """Profile -> the number of executors that Spark wants."""
        return {profile: policy.target for profile, policy in self._by_profile.items()}

    def stage_submitted(self, profile: int, now: float) -> None:
        """Handle the submission of a stage, whose tasks now wait."""
        self._policy(profile).stage_submitted(now)
        self._backlogged.add(profile)

    def backlogged(self, profile: int, now: float) -> None:
        """Start the profile's timer of growth, because tasks wait."""
        self._policy(profile).backlogged(now)
        self._backlogged.add(profile)

    def queue_empty(self, waiting: Mapping[int, int]) -> None:
        """Stop the timers of the profiles for which no task waits."""
        for profile in [one for one in self._backlogged if not waiting.get(one)]:
            self._by_profile[profile].queue_empty()
            self._backlogged.remove(profile)

    def executor_added(self, profile: int, id_: int, now: float) -> None:
        """Add a registered executor."""
        self._profile_of[id_] = profile
        self._policy(profile).executor_added(id_, now)

    def executor_removed(self, id_: int) -> None:
        """Remove an executor that is gone."""
        profile = self._profile_of.pop(id_, None)
        if profile is not None:
            self._policy(profile).executor_removed(id_)

    def task_started(self, id_: int) -> None:
        """Handle the start of a task."""
        self._policy(self._profile_of[id_]).task_started(id_)

    def task_ended(self, id_: int, now: float, shuffle: int | None, cached: bool) -> None:
        """Handle the end of a task. `shuffle`: the executor keeps its output; `cached`: it keeps blocks."""
        self._policy(self._profile_of[id_]).task_ended(id_, now, shuffle, cached)

    def shuffles_active(self, active: Iterable[int]) -> None:
        """Set the shuffles that running jobs may need."""
        known = frozenset(active)
        for policy in self._by_profile.values():
            policy.shuffles_active(known)

    def look(self, now: float, tasks: Mapping[int, int]) -> list[int]:
        """Update the targets for this many tasks of each profile. Returns the executors to remove."""
        return [
            id_
            for profile, policy in self._by_profile.items()
            for id_ in policy.look(now, tasks.get(profile, 0))
        ]

    def next_look(self, now: float) -> float | None:
        """When a check may change something without any other event; None if never."""
        times = [time for policy in self._by_profile.values() if (time := policy.next_look(now)) is not None]
        return min(times, default=None)


class Shares:
    """The shares of an executor that tasks use, as whole numbers; `whole` is all of an executor.

    With dynamic allocation, an executor runs only tasks of its own profile. With a fixed number of executors,
    tasks of all profiles share those of the default profile.
    """

    def __init__(self, settings: Configuration) -> None:
        slots = {profile: settings.shape(profile).slots for profile in (0, *settings.profiles)}
        self.whole = math.lcm(*slots.values())
        self._each = {profile: self.whole // count for profile, count in slots.items()}

    def of(self, profile: int) -> int:
        """The share that a task of a profile uses."""
        return self._each[profile]
