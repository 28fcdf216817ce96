"""Rounds: look at the disk, ask the cluster, decide, remove. It holds what the last round left behind."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sparkgen.allocator.prometheus import metric, single
from sparkgen.janitor.decide import decide
from sparkgen.janitor.types import (
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


class Files(Protocol):
    """What is asked of the disk (disk.Disk)."""

    def owners(self) -> frozenset[Owner]:
        """Whose sub-directories there are."""
        ...

    def held(self, owners: frozenset[Owner]) -> frozenset[Owner]:
        """Those of which an executor on this node lives."""
        ...

    def used(self) -> float:
        """The used share of the fullest file system."""
        ...

    def remove(self, owner: Owner) -> None:
        """Remove an application's files."""
        ...

    def empty(self) -> None:
        """Finish removals that were interrupted."""
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """What the janitor is made of. `say` takes a line of the log."""

    files: Files
    drivers: Callable[[str], Drivers]
    clock: Callable[[], float]
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Last:
    """What the last round left behind, for those who ask."""

    at: float
    sight: Sight
    decision: Decision


class Janitor:
    """All rounds of one process, on one thread; `metrics` and `body` may be asked from others."""

    def __init__(self, ports: Ports, settings: Settings) -> None:
        self._ports = ports
        self._settings = settings
        self._memory = Memory()
        self._told: dict[object, str] = {}
        self.removed: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.last: Last | None = None

    def run(self, stop: threading.Event) -> None:
        """Make rounds until it is told to stop."""
        while not stop.is_set():
            try:
                self.round()
            except OSError as error:
                self._fault("disk", f"the service's directories cannot be read: {error}")
            stop.wait(self._settings.interval)

    def round(self) -> Decision:
        """One round. OSError when the directories cannot be read."""
        ports, now = self._ports, self._ports.clock()
        if not self._settings.dry_run:
            self._empty()
        owners = ports.files.owners()  # before the lists: they are about these
        held = ports.files.held(owners)
        drivers = {name: self._drivers(name) for name in sorted({owner.namespace for owner in owners})}
        sight = Sight(owners, held, drivers, ports.files.used())
        decision = decide(sight, self._memory, self._settings, now)
        self._memory = decision.memory
        for removal in decision.removals:
            self._act(removal)
        self._told = {key: text for key, text in self._told.items() if key in owners or key in drivers}
        self.last = Last(now, sight, decision)
        return decision

    def _empty(self) -> None:
        try:
            self._ports.files.empty()
        except OSError as error:
            self._fault("remove", f"what was to be removed stays: {error}")

    def _drivers(self, namespace: str) -> Drivers:
        found = self._ports.drivers(namespace)
        if found.answer is not Answer.WHOLE:
            self.faults[found.answer.value] += 1
            self._once(namespace, f"namespace {namespace}: {found.answer.value}: {found.why}")
        elif self._told.pop(namespace, None):
            self._ports.say(f"namespace {namespace}: its drivers can be listed again")
        return found

    def _act(self, removal: Removal) -> None:
        folder = removal.owner.folder
        if self._settings.dry_run:
            self._once(removal.owner, f"would remove {folder}: {removal.why.split(' for ')[0]} (dry run)")
            return
        if removal.pressed and self._ports.files.used() <= self._settings.pressure:
            return
        try:
            self._ports.files.remove(removal.owner)
        except OSError as error:
            self._fault("remove", f"{folder} cannot be removed altogether: {error}")
            return
        self.removed["pressure" if removal.pressed else "over"] += 1
        self._memory = _without(self._memory, removal.owner)
        self._ports.say(f"removed {folder}: {removal.why}")

    def _fault(self, kind: str, text: str) -> None:
        self.faults[kind] += 1
        self._ports.say(text)

    def _once(self, key: object, text: str) -> None:
        """Say it, unless it was the last thing said about `key`."""
        if self._told.get(key) != text:
            self._told[key] = text
            self._ports.say(text)

    # --- for those who ask ------------------------------------------------------------------------

    def body(self) -> dict[str, Any]:
        """The answer to /status."""
        last, now = self.last, self._ports.clock()
        if last is None:
            return {"reason": "the first round has not been made yet"}
        finished = self._memory.finished
        return {
            "secondsSinceRound": round(now - last.at, 1),
            "used": round(last.sight.used, 4),
            "dryRun": self._settings.dry_run,
            "applications": [
                {
                    "namespace": owner.namespace,
                    "driver": owner.uid,
                    "state": state.value,
                    "inUseHere": owner in last.sight.held,
                    **({"finishedFor": round(now - finished[owner], 1)} if owner in finished else {}),
                }
                for owner, state in sorted(last.decision.states.items())
            ],
            "namespaces": {
                name: found.why or found.answer.value for name, found in last.sight.drivers.items()
            },
        }

    def metrics(self) -> str:
        """The answer to /metrics."""
        return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        last = self.last
        if last is not None:
            states = Counter(last.decision.states.values())
            yield from metric(
                "sparkgen_janitor_applications",
                "gauge",
                "Applications' sub-directories, by what is known of their drivers.",
                (((("state", state.value),), states[state]) for state in State),
            )
            yield from single(
                "sparkgen_janitor_disk_used_ratio", "gauge", "Of the fullest file system.", last.sight.used
            )
            yield from single(
                "sparkgen_janitor_seconds_since_round",
                "gauge",
                "Seconds since the last round began.",
                self._ports.clock() - last.at,
            )
        for name, text, counts in (
            ("removed", "Sub-directories that were removed, by why.", self.removed),
            ("faults", "Lists and removals that went wrong, by what.", self.faults),
        ):
            values = ((((("kind", kind),), count)) for kind, count in sorted(counts.items()))
            yield from metric(f"sparkgen_janitor_{name}_total", "counter", text, values)


def _without(memory: Memory, gone: Owner) -> Memory:
    return replace(
        memory,
        finished={owner: since for owner, since in memory.finished.items() if owner != gone},
        denied={owner: since for owner, since in memory.denied.items() if owner != gone},
    )
