"""The janitor's rounds: read the disk, list drivers, decide, remove; and the state between rounds."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import Protocol

from sparkgen.runtime.janitor.decide import decide
from sparkgen.runtime.janitor.namespaces import NamespaceQuery, next_namespaces
from sparkgen.runtime.janitor.removal import Removed
from sparkgen.runtime.janitor.sweeper import PendingRemoval, Sweeper
from sparkgen.runtime.janitor.values import (
    Discarded,
    DiskContents,
    Drivers,
    DriversAnswer,
    JanitorDecision,
    JanitorMemory,
    JanitorSettings,
    JanitorView,
    Owner,
    OwnerRemoval,
    Trash,
)

ASKING_SECONDS = 60.0
"""The time for all lists of a round; namespaces that are left have their turn in the next round."""
REMOVING_SECONDS = (10.0, 60.0)
"""The time for the removals of a round: the interval, but within these bounds. Then the next round begins."""
PAUSE = 1.0
"""Seconds between two rounds if there is more to remove."""
MAX_TOLD = 10_000
"""The most log lines that are remembered in order not to repeat them."""


class Files(Protocol):
    """The operations on the disk (disk.Disk)."""

    def look(self, known: Container[Owner]) -> DiskContents:
        """The owners of sub-directories, and trees being removed. Raises OSError if nothing is readable."""
        ...

    def is_held(self, owner: Owner) -> bool:
        """Whether an executor on this node uses the owner's files."""
        ...

    def used(self) -> float:
        """The used share of the fullest file system. Raises OSError."""
        ...

    def discard(self, owner: Owner) -> Discarded:
        """Mark an application's sub-directories for removal."""
        ...

    def remove(self, trash: Trash, expired: Callable[[], bool]) -> Removed:
        """Continue a removal until `expired`. Raises OSError."""
        ...


@dataclass(frozen=True, slots=True)
class JanitorPorts:
    """The parts of the janitor. `say` writes a line to the log."""

    files: Files
    drivers: Callable[[str], Drivers]
    clock: Callable[[], float]
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LastRound:
    """The result of the last round, for probes, status and metrics. `at`: when it ended."""

    at: float
    view: JanitorView
    decision: JanitorDecision
    memory: JanitorMemory
    stuck: tuple[tuple[Trash, PendingRemoval], ...] = ()


class Janitor:
    """All rounds of one process, on one thread. Other threads may read the counters, `last` and `silence`."""

    def __init__(self, ports: JanitorPorts, settings: JanitorSettings) -> None:
        self._ports = ports
        self.settings = settings
        self._memory = JanitorMemory()
        self._asked: dict[str, NamespaceQuery] = {}
        self._told: dict[object, str] = {}
        self._sweeper = Sweeper(ports.files.remove, ports.clock, self._gone, self._stuck)
        self._began_at = ports.clock()
        self.removed: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.last: LastRound | None = None

    @property
    def silence(self) -> float:
        """Seconds since the last finished round, or since the start."""
        last = self.last
        return self._ports.clock() - (self._began_at if last is None else last.at)

    def run(self, stop: threading.Event) -> None:
        """Make rounds until `stop` is set."""
        while not stop.is_set():
            more = False
            try:
                more = self.round()
            except OSError as error:
                self._fault("disk", f"cannot read the service's directories: {error}")
            except Exception as error:  # noqa: BLE001 - the next round may succeed; if not, /healthz shows it
                self._fault("round", f"a round failed: {type(error).__name__}: {error}")
            stop.wait(min(PAUSE, self.settings.interval) if more else self.settings.interval)

    def round(self) -> bool:
        """Make one round. Returns whether there is more to remove. Raises OSError if it cannot read."""
        ports, now = self._ports, self._ports.clock()
        found = ports.files.look(
            self.last.view.owners if self.last else ()
        )  # before the lists, which must be newer than these directories
        self._tell_of(found)
        held = frozenset(owner for owner in found.owners if self._is_held(owner))
        view = JanitorView(
            found.owners, held, self._ask({owner.namespace for owner in found.owners}), self._used()
        )
        decision = decide(view, self._memory, self.settings, now)
        self._memory = decision.memory
        more = self._remove(found, decision)
        if len(self._told) > MAX_TOLD:
            self._told.clear()
        self.last = LastRound(ports.clock(), view, decision, self._memory, self._sweeper.stuck)
        return more

    # --- look -------------------------------------------------------------------------------------

    def _tell_of(self, found: DiskContents) -> None:
        for fault in found.faults:
            self._fault("disk", f"cannot read one of the service's directories: {fault}")
        if found.crowded:
            self._fault("crowded", "there are too many subdirectories to handle at once; some of them wait")

    def _is_held(self, owner: Owner) -> bool:
        try:
            return self._ports.files.is_held(owner)
        except Exception as error:  # noqa: BLE001 - an error for one application must not affect others
            self._fault("lock", f"keeping {owner.folder}: cannot read its lock: {error}")
            return True

    def _used(self) -> float:
        try:
            return self._ports.files.used()
        except OSError as error:
            self._fault("disk", f"cannot find out how full the disk is: {error}")
            return 0.0

    def _ask(self, namespaces: set[str]) -> dict[str, Drivers]:
        """The drivers of as many namespaces as there is time for."""
        clock, drivers = self._ports.clock, dict[str, Drivers]()
        deadline = clock() + ASKING_SECONDS
        self._asked = {name: asked for name, asked in self._asked.items() if name in namespaces}
        for name in next_namespaces(namespaces, self._asked):
            if drivers and clock() >= deadline:
                break
            drivers[name] = found = self._drivers(name)
            self._asked[name] = NamespaceQuery(clock(), found.answer)
        return drivers

    def _drivers(self, namespace: str) -> Drivers:
        try:
            found = self._ports.drivers(namespace)
        except Exception as error:  # noqa: BLE001 - as in _is_held
            found = Drivers(DriversAnswer.UNKNOWN, why=f"{type(error).__name__}: {error}")
        if found.answer is not DriversAnswer.WHOLE:
            self.faults[found.answer.value] += 1
            self._once(namespace, f"namespace {namespace}: {found.answer.value}: {found.why}")
        elif self._told.pop(namespace, None):
            self._ports.say(f"namespace {namespace}: its drivers can be listed again")
        return found

    # --- remove -----------------------------------------------------------------------------------

    def _remove(self, found: DiskContents, decision: JanitorDecision) -> bool:
        """Begin the decided removals, and continue earlier ones. Returns whether there is more to do."""
        if self.settings.dry_run:
            for removal in decision.removals:
                folder = removal.owner.folder
                self._once(removal.owner, f"would remove {folder}: {removal.why.split(' for ')[0]} (dry run)")
            return False
        least, most = REMOVING_SECONDS
        deadline = self._ports.clock() + min(max(self.settings.interval, least), most)
        self._sweeper.forget_others(found.trash)
        for trash in found.trash:
            self._sweeper.begin(trash)
        pressed = [removal for removal in decision.removals if removal.pressed]
        for removal in decision.removals:
            if not removal.pressed:
                self._discard(removal)
        more = self._sweeper.sweep(deadline)
        # One by one: the next is removed only if the disk is still too full.
        while pressed and not more and self._used() > self.settings.pressure:
            self._discard(pressed.pop(0))
            more = self._sweeper.sweep(deadline)
        return more

    def _discard(self, removal: OwnerRemoval) -> None:
        owner = removal.owner
        try:
            discarded = self._ports.files.discard(owner)
        except Exception as error:  # noqa: BLE001 - as in _is_held
            discarded = Discarded(fault=f"{type(error).__name__}: {error}")
        if discarded.fault:
            self.faults["remove"] += 1
            self._once(owner, f"cannot remove {owner.folder}: {discarded.fault}")
        else:
            self._memory = _without(self._memory, owner)
        for trash in discarded.trash:
            self._sweeper.begin(trash, removal)

    def _gone(self, trash: Trash, entry: PendingRemoval) -> None:
        removal = entry.removal
        self._told.pop(trash, None)
        if removal is None:
            self.removed["interrupted"] += 1
            self._ports.say(f"removed {trash.name}: finished an interrupted removal")
            return
        self.removed["pressure" if removal.pressed else "over"] += 1
        self._ports.say(f"removed {removal.owner.folder}: {removal.why}")

    def _stuck(self, trash: Trash, removed: Removed) -> None:
        self.faults["remove"] += 1
        some = f"{removed.entries} of its entries" if removed.entries > 1 else "part of it"
        self._once(trash, f"cannot remove {trash.name}: {removed.why} ({some}); continuing with the others")

    # --- the log ----------------------------------------------------------------------------------

    def _fault(self, kind: str, text: str) -> None:
        self.faults[kind] += 1
        self._ports.say(text)

    def _once(self, key: object, text: str) -> None:
        """Log a line, unless it was the last one about `key`."""
        if self._told.get(key) != text:
            self._told[key] = text
            self._ports.say(text)


def _without(memory: JanitorMemory, gone: Owner) -> JanitorMemory:
    return replace(
        memory,
        finished={owner: since for owner, since in memory.finished.items() if owner != gone},
        denied={owner: since for owner, since in memory.denied.items() if owner != gone},
    )
