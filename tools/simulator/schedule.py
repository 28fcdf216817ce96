"""A schedule as a value: targets, settings and faults, each with its time. It is made from a seed."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from sparkgen.runtime.allocator.values.settings import AllocationSettings

LASTS = True


class FaultKind(enum.Enum):
    """The kinds of faults; the value is the text in the timeline. `lasts`: for some seconds."""

    lasts: bool

    def __new__(cls, text: str, lasts: bool = False) -> FaultKind:
        """Make a kind whose value is its text alone."""
        made = object.__new__(cls)
        made._value_, made.lasts = text, lasts
        return made

    CREATE_UNANSWERED = "creations are carried out, and not answered"
    CREATE_LOST = "creations are not carried out, and not answered"
    CREATE_LATE = "creations are not answered, and carried out later"
    CREATE_ERROR = "creations are carried out, and answered with an error"
    CREATE_SLOW = "creations are answered late"
    DELETE_UNANSWERED = "deletions are carried out, and not answered"
    DELETE_LOST = "deletions are not carried out, and not answered"
    BUSY = "the API server answers 429, with a time", LASTS
    BROKEN = "the API server answers 500", LASTS
    AWAY = "the API server is unreachable", LASTS
    QUOTA = "a quota appears", LASTS
    WEBHOOK = "a webhook denies", LASTS
    NO_RIGHT = "the RoleBinding does not exist", LASTS

    LIST_SLOW = "lists come late", LASTS
    LIST_EXPIRED = "lists expire between two pages"
    WATCH_CUT = "the watch breaks"
    WATCH_ENDED = "the server ends the watch"
    WATCH_GONE = "the server forgets old versions (410)"
    WATCH_ERROR = "the watch itself reports 410"
    WATCH_SILENT = "the watch stays open, and shows nothing more"
    WATCH_SLOW = "the watch is late", LASTS
    WATCH_REPEATS = "the watch repeats events"
    WATCH_SWAPS = "the watch swaps events"

    NODE_SILENT = "a node does not answer; its containers keep running", LASTS
    NODE_DEAD = "a node is dead, and comes back", LASTS
    NODE_GONE = "a node is removed permanently"
    FULL = "no node has room", LASTS
    EVICTED = "a pod is evicted by its node"
    DRAINED = "a pod is evicted as its node is drained"
    PREEMPTED = "a pod is preempted"
    DELETED = "somebody deletes a pod"
    DELETED_BY_FORCE = "somebody deletes a pod by force"
    OOM = "an executor is out of memory"
    EXITED = "an executor exits with code 1"

    CRASH = "the allocator is killed"
    TERM = "the allocator is asked to stop while the driver runs"
    FREEZE = "the allocator is paused", LASTS
    MEANWHILE = "executors ask whether they may start while the allocator decides", LASTS
    CLOCK = "the allocator's clock jumps", LASTS

    DRIVER_RESTART = "the driver's container ends, and starts again"
    DRIVER_HANGS = "the driver is paused", LASTS
    STATE_LOST = "states of the driver are lost", LASTS
    STATE_LATE = "states of the driver come late, after newer ones"
    REPORT_LOST = "reports to the driver are lost", LASTS
    REGISTER_SLOW = "executors register late", LASTS
    CHANGE_OF_MIND = "Spark wants fewer executors just as one registers"
    KILL_LOST = "executors are not told to stop"

    DRIVER_STILL = "the driver is paused for a long time, and then continues", LASTS
    CUT = "the network to the driver and its command is cut", LASTS
    DRIVER_KILLED = "the driver is killed, and somebody starts the next one"
    SECOND_DRIVER = "somebody starts a second driver"
    COMMAND_GONE = "the command that started the session is gone"

    QUEUE = "executors wait in a queue that has room for only some of them", LASTS
    QUEUE_HOLDS = "a queue holds new executors back", LASTS
    QUEUE_EVICTS = "a queue takes an executor back"
    QUEUE_PREEMPTS = "a queue takes an executor back for another workload"

    HINTS = "Spark reports where its tasks would be local, and changes the report every second", LASTS

    FETCH_SLOW = "new executors wait for their files, because the registry is unreachable", LASTS
    NO_FILES = "the files of executors are permanently gone"

    HUNGRY = "executors need more memory than their profile says; the unit is 100 MiB"

    POOL_DRY = "a pool of nodes takes no more pods; the number is the pool's"
    POOL_SHORT = "a pool of nodes takes no pods for a while; the number is the pool's", LASTS

    LIES = (
        "user code impersonates the driver: it requests 100,000 executors, and reports pods as registered",
        LASTS,
    )


OF_SESSIONS = (
    FaultKind.DRIVER_STILL,
    FaultKind.CUT,
    FaultKind.DRIVER_KILLED,
    FaultKind.SECOND_DRIVER,
    FaultKind.COMMAND_GONE,
)
"""Faults only for sessions, in which drivers come and go."""
OF_CLIENTS = frozenset({FaultKind.CUT, FaultKind.COMMAND_GONE})
"""Faults only for drivers outside the pod."""
OF_QUEUES = (
    FaultKind.QUEUE,
    FaultKind.QUEUE_HOLDS,
    FaultKind.QUEUE_EVICTS,
    FaultKind.QUEUE_PREEMPTS,
)
"""Actions of a queue such as Kueue: it gates pods, admits some or none of them, evicts and preempts."""
OF_FILES = (FaultKind.FETCH_SLOW, FaultKind.NO_FILES)
"""Faults before an executor's container starts: its init container `fetch` waits, or fails."""
OF_MEMORY = (FaultKind.HUNGRY,)
"""The need for memory: an executor with less is killed by the kernel a while after it has registered."""
OF_POOLS = (FaultKind.POOL_DRY, FaultKind.POOL_SHORT)
"""Pools of nodes that have no room, for a while or for good."""
POOLS = 2
"""The number of pools, in schedules with pools."""
STAYING = (FaultKind.NO_FILES, FaultKind.HUNGRY, FaultKind.POOL_DRY)
"""Faults that do not end."""
OWN_CHANCE = frozenset(
    {FaultKind.LIES, FaultKind.HINTS, *OF_SESSIONS, *OF_QUEUES, *OF_FILES, *OF_MEMORY, *OF_POOLS}
)
KINDS = tuple(kind for kind in FaultKind if kind not in OWN_CHANCE)
"""The kinds that `_faults` draws from. The others have their own random numbers, so that the schedules of
existing seeds do not change."""
NOT_IN_SESSIONS = frozenset({FaultKind.TERM, FaultKind.CLOCK, FaultKind.DRIVER_RESTART})
"""Faults that mean something else in sessions: a signal ends the session, a jump of the clock counts as a
silence, and after a driver's end somebody starts the next one."""
BY_APPLICATION = frozenset({FaultKind.OOM, FaultKind.EXITED})
LASTING = frozenset(kind for kind in FaultKind if kind.lasts)
"""Faults that last for some seconds; all others happen a number of times."""
ONE_OF = frozenset({FaultKind.NO_RIGHT, FaultKind.CLOCK})
"""At most one of these in a schedule: a right that is missing for a minute, by the real or by a jumped clock,
is a mistake of the administrator, not a fault of the cluster, and correctly ends the application."""
MAX_BY_APPLICATION = 2
"""The most faults of the application in one schedule: as many as `max_failures` allows."""


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """One fault at `at` seconds. Kinds in LASTING last `amount` seconds; the others happen `count` times."""

    at: float
    kind: FaultKind
    amount: float = 0.0
    count: int = 1

    def __str__(self) -> str:
        how = f"for {self.amount:.1f} s" if self.kind in LASTING else f"x {self.count}"
        return f"{self.kind.value} ({how})"


@dataclass(frozen=True, slots=True)
class TargetChange:
    """Spark's target from `at` on: executors by profile; `decommission`: this many are decommissioned."""

    at: float
    targets: Mapping[int, int]
    decommission: int = 0


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """The settings from `at` on."""

    at: float
    settings: AllocationSettings


class SessionEnd(enum.Enum):
    """The ways in which a session ends."""

    STOPPED = "the driver stops, and the command ends"
    KILLED = "the driver and the command are killed"
    TOLD = "the session's pod is asked to stop while the driver runs"


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """A session, in which drivers come and go. `notebook`: they are in the allocator's pod; no command."""

    end: SessionEnd
    notebook: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule. Times in seconds since the driver's pod was created."""

    seed: int
    settings: AllocationSettings
    target_changes: tuple[TargetChange, ...]
    settings_changes: tuple[SettingsChange, ...]
    faults: tuple[InjectedFault, ...]
    calm_at: float
    """The time from which there are no more faults."""
    nodes: int = 3
    slots: int = 4
    """The number of executors that fit on a node."""
    ends_cleanly: bool = True
    """Whether Spark's context is stopped at the end; otherwise the driver's process dies."""
    away_at_the_end: bool = False
    """Whether the API server is unreachable while the allocator ends."""
    sessions: SessionPlan | None = None
    """None: the pod has its own driver."""
    begins_with: int = 0
    """Spark assigns no task before this many executors have registered; 0: it does not wait for any."""
    rival: Schedule | None = None
    """A second application on the same nodes, which have room for only one of the two at a time."""


def session_schedule_of(seed: int, focus: tuple[FaultKind, ...] = ()) -> Schedule:
    """The schedule of a seed for a session: that of `schedule_of`, with faults of sessions added."""
    schedule = schedule_of(seed, tuple(kind for kind in focus if kind not in OF_SESSIONS))
    random = Random(f"sessions {seed}")
    horizon = random.choice((20.0, 60.0, 150.0))
    found = [fault for fault in schedule.faults if fault.kind not in NOT_IN_SESSIONS]
    plan = SessionPlan(random.choice(tuple(SessionEnd)), notebook=random.random() < 0.25)
    kinds = [kind for kind in OF_SESSIONS if not plan.notebook or kind not in OF_CLIENTS]
    for _ in range(random.choice((0, 1, 2, 3))):
        of_focus = [kind for kind in focus if kind in kinds]
        kind = random.choice(of_focus if of_focus and random.random() < 0.5 else kinds)
        amount = random.choice((5.0, 30.0, 45.0, 75.0, 110.0)) * random.uniform(0.8, 1.0)
        at = random.uniform(0.0, horizon)
        found.append(InjectedFault(at, kind, amount if kind in LASTING else 0.0))
    return replace(
        schedule,
        faults=tuple(sorted(found, key=lambda fault: fault.at)),
        calm_at=max([schedule.calm_at, *(fault.at + fault.amount + 1.0 for fault in found)]),
        sessions=plan,
    )


def schedule_of(seed: int, focus: tuple[FaultKind, ...] = ()) -> Schedule:
    """The schedule of a seed. `focus`: half of the faults are of these kinds."""
    random = Random(f"plan {seed}")
    # With its own random numbers, so that the schedules of existing seeds do not change otherwise.
    settings = _gated(Random(f"gates {seed}"), _settings(random))
    horizon = random.choice((10.0, 20.0, 40.0))
    target_changes = sorted(
        _target_changes(random, settings, horizon), key=lambda target_change: target_change.at
    )
    moments = [3.0, *(target_change.at for target_change in target_changes)]
    found = _faults(random, horizon, moments, focus) + _lies(Random(f"lies {seed}"), settings, horizon)
    found += _queue(Random(f"queue {seed}"), horizon) + _hints(Random(f"hints {seed}"), horizon)
    faults = tuple(sorted(found, key=lambda fault: fault.at))
    return Schedule(
        seed=seed,
        settings=settings,
        target_changes=tuple(target_changes),
        settings_changes=tuple(
            replace(
                settings_change,
                settings=_gated(Random(f"gates {seed} {settings_change.at}"), settings_change.settings),
            )
            for settings_change in _held(
                Random(f"hold {seed}"), settings, _settings_changes(random, settings, horizon), horizon
            )
        ),
        faults=faults,
        calm_at=max([horizon, *(fault.at + fault.amount for fault in faults)]) + 1.0,
        ends_cleanly=random.random() < 0.7,
        away_at_the_end=random.random() < 0.1,
    )


def _gated(random: Random, settings: AllocationSettings) -> AllocationSettings:
    """The settings, possibly with a small limit of pods without a node, and with Spark's classic rule."""
    return replace(
        settings,
        max_unschedulable=random.choice((settings.max_unschedulable, settings.max_unschedulable, 1, 2, 3)),
        wait_for_registration=random.random() < 0.2,
    )


def _lies(random: Random, settings: AllocationSettings, horizon: float) -> list[InjectedFault]:
    """LIES for a while, in one of five schedules. Static allocation ignores the driver's target."""
    if not settings.dynamic or random.random() > 0.2:
        return []
    at = random.uniform(0.0, horizon)
    return [InjectedFault(at, FaultKind.LIES, random.uniform(0.2, 1.0) * (horizon - at))]


def _hints(random: Random, horizon: float) -> list[InjectedFault]:
    """HINTS in one of four schedules, from early on: they change, and are partly wrong, until they end."""
    if random.random() > 0.25:
        return []
    at = random.uniform(0.0, 3.0)
    return [InjectedFault(at, FaultKind.HINTS, random.uniform(0.2, 0.9) * (horizon - at))]


def _queue(random: Random, horizon: float) -> list[InjectedFault]:
    """In one of seven schedules, a queue with some room from early on, and other actions of this queue."""
    if random.random() > 0.15:
        return []
    at = random.uniform(0.0, 3.0)
    found = [InjectedFault(at, FaultKind.QUEUE, horizon - at, random.randint(0, 3))]
    for _ in range(random.randint(0, 3)):
        kind = random.choice(OF_QUEUES[1:])
        amount = random.uniform(1.0, 10.0) if kind in LASTING else 0.0
        found.append(InjectedFault(random.uniform(at, horizon), kind, amount))
    return found


def _settings(random: Random) -> AllocationSettings:
    dynamic = random.random() < 0.8
    return AllocationSettings(
        dynamic=dynamic,
        instances=random.randint(1, 4),
        initial=random.randint(0, 2) if dynamic else 0,
        maximum=random.randint(3, 6) if dynamic else None,
        batch_size=random.choice((None, None, None, 1, 2)),
        max_pending=random.choice((None, None, None, 1, 3)),
        executor_timeout=random.choice((40.0, 90.0)),
        grace=random.choice((5.0, 30.0)),
        max_failures=random.choice((None, MAX_BY_APPLICATION)),
    )


def _target_changes(random: Random, settings: AllocationSettings, horizon: float) -> list[TargetChange]:
    if not settings.dynamic:
        return []
    profiles = (0,) if random.random() < 0.8 else (0, 1)
    moments: list[float] = []
    for _ in range(random.randint(1, 5)):
        moments.append(_moment(random, horizon, moments))
    return [
        TargetChange(
            moment,
            {profile: random.randint(0, 5) for profile in profiles},
            random.choice((0, 0, 0, 1)),
        )
        for moment in moments
    ]


def _moment(random: Random, horizon: float, moments: list[float]) -> float:
    """A random time; often soon after another event, because most bugs show then."""
    if moments and random.random() < 0.6:
        return max(0.0, random.choice(moments) + random.uniform(-0.5, 5.0))
    return random.uniform(0.0, horizon)


def _held(
    random: Random, settings: AllocationSettings, changes: list[SettingsChange], horizon: float
) -> list[SettingsChange]:
    """The changes, and in some schedules a hold, which ends again or not."""
    if random.random() < 0.8:
        return changes
    begin = random.uniform(0.0, horizon)
    end = random.uniform(begin, horizon) if random.random() < 0.6 else math.inf
    timeline = [SettingsChange(0.0, settings), *changes]

    def at(time: float) -> SettingsChange:
        latest = [change.settings for change in timeline if change.at <= time][-1]
        return SettingsChange(time, replace(latest, hold=begin <= time < end))

    return [at(time) for time in sorted({begin, end, *(change.at for change in changes)} - {math.inf})]


def _settings_changes(random: Random, settings: AllocationSettings, horizon: float) -> list[SettingsChange]:
    if not settings.dynamic or random.random() < 0.8:
        return []
    values = {name: getattr(settings, name) for name in AllocationSettings.__slots__}
    changed = AllocationSettings(**{**values, "maximum": random.randint(1, 6)})
    return [SettingsChange(random.uniform(0.0, horizon), changed)]


def _faults(
    random: Random, horizon: float, moments: list[float], focus: tuple[FaultKind, ...]
) -> list[InjectedFault]:
    found: list[InjectedFault] = []
    once = set[FaultKind]()
    blamed = 0
    for _ in range(random.choice((1, 2, 3, 4, 6, 8))):
        kind = random.choice(focus if focus and random.random() < 0.5 else KINDS)
        at = _moment(random, horizon, moments)
        amount = random.choice((1.0, 5.0, 15.0, 40.0)) * random.uniform(0.5, 1.0)
        count = random.randint(1, 4)
        blamed += kind in BY_APPLICATION
        if (kind in BY_APPLICATION and blamed > MAX_BY_APPLICATION) or (kind in ONE_OF and once & ONE_OF):
            continue
        once.add(kind)
        moments.append(at)
        found.append(
            InjectedFault(at, kind, amount if kind in LASTING else 0.0, 1 if kind in LASTING else count)
        )
    return found
