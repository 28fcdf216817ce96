"""The values of the allocator: what is seen, what is wanted, what is remembered, what is decided.

All are frozen, so that a decision is a function of values. Times are seconds of one monotonic clock of
this process (`now`), never of another machine's: clocks of nodes and of the API server may be wrong.
Executor ids and resource profile ids are numbers, as Spark's are.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


class _Nothing(Mapping[Any, Any]):
    """An empty mapping that nobody can change, and that dataclasses take as a default, as it has a hash."""

    def __getitem__(self, key: Any) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


NOTHING: Mapping[Any, Any] = _Nothing()
"""The default of every mapping below."""


LATEST = 10.0
"""Seconds that a word of the driver may take to arrive: what is heard later was said later."""


class State(enum.Enum):
    """Where an executor is on its way; each id is in exactly one of these sets."""

    __hash__ = object.__hash__  # by identity: every decision looks it up dozens of times, and Enum's is slow

    PLANNED = "planned"
    """Decided now, and not asked for yet."""
    REQUESTED = "requested"
    """Asked for; the cluster has not shown its pod yet."""
    PENDING = "pending"
    """Its pod is there and does not run yet."""
    RUNNING = "running"
    """Its pod runs; Spark does not know it yet."""
    REGISTERED = "registered"
    """Spark counts on it."""
    DRAINING = "draining"
    """On its way out: Spark removed or decommissions it, or its pod is being deleted."""
    GONE = "gone"
    """Its pod has ended, or is not there any more."""


class Phase(enum.Enum):
    """A pod's phase, in Kubernetes' words (PodStatus.phase)."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


class Cause(enum.Enum):
    """Why an executor is gone; the words of the report (docs/design/protocol.md)."""

    KILLED = "killed"
    EXITED = "exited"
    OOM = "oom"
    EVICTED = "evicted"
    PREEMPTED = "preempted"
    NODE_LOST = "node-lost"
    DELETED = "deleted"
    FAILED_START = "failed-start"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Loss:
    """How an executor ended. `by_application`: its own fault, which counts against its tasks."""

    cause: Cause
    message: str
    by_application: bool = False
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a pending pod does not run: Kubernetes' own reason and message.

    `hopeless`: waiting does not help, as the image cannot be had or the container cannot be made.
    """

    reason: str
    message: str
    hopeless: bool = False

    @property
    def text(self) -> str:
        """The reason, and the message where there is one."""
        return f"{self.reason}: {self.message}".removesuffix(": ")


@dataclass(frozen=True, slots=True)
class Observed:
    """An executor's pod as the cluster shows it. `since`: when this process first saw it in this phase."""

    id: int
    profile: int
    name: str
    uid: str
    phase: Phase
    since: float
    node: str = ""
    deleting: bool = False
    waiting: Waiting | None = None
    loss: Loss | None = None
    """Set when it has ended (phase Succeeded or Failed), or when its node is lost."""
    port: int | None = None
    """The host port of its block manager, where it has one."""
    found_ended: bool = False
    """It had ended when this process saw it first: nobody knows any more what was asked of it."""


@dataclass(frozen=True, slots=True)
class Unlisted:
    """Why the last list was not given, in words; "" when it was.

    `hopeless` counts the tries in a row that were refused in a way that no time will mend.
    """

    reason: str = ""
    hopeless: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All executors of this attempt that the cluster shows.

    `complete` is false until a whole list has been read, and while what came after it may have been missed:
    from an incomplete snapshot nobody may conclude that something is gone. `listed_at`: when the request
    for the last whole list was sent (None: never), so what was created before and is not here is not there.
    """

    complete: bool = False
    executors: Mapping[int, Observed] = NOTHING
    listed_at: float | None = None
    vanished: Mapping[int, Observed] = NOTHING
    """Executors that were deleted while a watch ran, as they were last; the oldest may be forgotten."""
    started: frozenset[int] = frozenset()
    """Executors that were given the start word: they may register at any moment."""
    unlisted: Unlisted = Unlisted()


@dataclass(frozen=True, slots=True)
class Profile:
    """What an executor of a resource profile needs; memory in MiB, `resources` by Spark's names ("gpu")."""

    cores: int = 1
    memory: int = 1024
    overhead: int = 384
    pyspark: int = 0
    off_heap: int = 0
    resources: Mapping[str, int] = NOTHING


class DriverPhase(enum.Enum):
    """What the driver says of itself."""

    SILENT = "silent"
    """It has said nothing yet: its JVM starts."""
    RUNNING = "running"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Target:
    """What the driver wants: the state of docs/design/protocol.md as a value."""

    phase: DriverPhase = DriverPhase.SILENT
    session: str = ""
    revision: int = 0
    application_id: str = ""
    dynamic: bool = False
    executors: Mapping[int, int] = NOTHING
    """Executors wanted, per resource profile."""
    profiles: Mapping[int, Profile] = NOTHING
    registered: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    kills: frozenset[int] = frozenset()
    draining: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    host_tasks: Mapping[int, Mapping[str, int]] = NOTHING
    away: bool = False
    """Nothing has been heard of it for long: its JVM is dead, or hangs. What it wanted is old."""
    heard_at: float = math.inf
    """When it spoke last, whether or not it said something new."""


@dataclass(frozen=True, slots=True)
class HostPorts:
    """A range of host ports for block managers, both ends included; `start` ports into it giving begins."""

    first: int
    last: int
    start: int = 0

    @property
    def size(self) -> int:
        """How many ports there are."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may tune while the application runs (tuning.json); times in seconds.

    `batch_size` of None: as fast as the API server takes it. With a number: at most that many creations every
    `batch_delay`, as Spark's own backend does it.
    """

    dynamic: bool = False
    instances: int = 1
    minimum: int = 0
    initial: int = 0
    maximum: int | None = None
    """Holds for all resource profiles together (ceiling.py); None: the document names none."""
    batch_size: int | None = None
    batch_delay: float = 1.0
    max_pending: int | None = None
    """Executors that are requested or pending at one time, all profiles together."""
    max_unschedulable: int = 100
    """Executors without a node: no more are created while there are so many. docs/design/allocation.md says
    how the default was chosen."""
    wait_for_registration: bool = False
    """Create no further batch of a profile before every executor of the last one has registered."""
    executor_timeout: float = 600.0
    """How long a request may stay unseen, and a running executor unregistered."""
    pending_timeout: float | None = None
    """How long a pod may be pending; None: for ever, as a full cluster is nobody's failure."""
    max_failures: int | None = None
    """Failures within `failures_interval` that end the application; None: Spark's max(3, 2 x executors)."""
    failures_interval: float = 3600.0
    grace: float = 30.0
    """The template's terminationGracePeriodSeconds: no deletion takes longer on a node that is well."""
    host_ports: HostPorts | None = None
    """The template's: each executor has a host port of its own, because a shuffle service works for it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A creation that was sent. `accepted`: when the server said yes; None while it is open."""

    profile: int
    sent: float
    accepted: float | None = None
    tries: int = 1
    retry_at: float | None = None
    """Its outcome is not known (a time-out): it is sent again then, under the same name."""
    port: int | None = None
    """The host port that it was asked for with."""
    uid: str = ""
    """The UID of the pod that it made, once the server has said it."""
    failed_at: float | None = None
    """When it was answered badly, or not. A list that was asked for since shows that the server is back."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A deletion that was sent. `open`: no answer yet. `accepted`: when the server said yes."""

    sent: float
    forced: bool = False
    open: bool = True
    retry_at: float | None = None
    why: str = ""
    accepted: float | None = None

    @property
    def began(self) -> float:
        """From when on the pod had time to end."""
        return self.sent if self.accepted is None else self.accepted


@dataclass(frozen=True, slots=True)
class Rate:
    """How many writes may be in flight, learned from the server's answers; none before `resume_at`."""

    window: int = 4
    resume_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """A pause in creating, until a time and for a reason in words.

    `level` counts the rounds in a row that went wrong, `hopeless` those of them that no time will mend.
    """

    level: int = 0
    until: float = 0.0
    reason: str = ""
    hopeless: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """What the allocator remembers between decisions. All of it can be lost: the cluster shows the rest."""

    next_id: int = 1
    """Never below what was ever used in this attempt."""
    requests: Mapping[int, Request] = NOTHING
    removals: Mapping[int, Removal] = NOTHING
    refusing: frozenset[int] = frozenset()
    rate: Rate = field(default_factory=Rate)
    refusals: Backoff = field(default_factory=Backoff)
    """After creations that the server refused; over with the first one that it takes."""
    bad_starts: Backoff = field(default_factory=Backoff)
    """After executors that ended before Spark knew them; over with the first one that registers."""
    batch_at: float | None = None
    """When the last batch was planned (with `Settings.batch_size`)."""
    batch_left: int = 0
    batches: Mapping[int, int] = NOTHING
    """How many executors of its batch a profile may still create (with `Settings.wait_for_registration`)."""
    failures: tuple[float, ...] = ()
    """When executors failed by the application's fault, the oldest first."""
    losses: Mapping[int, Loss] = NOTHING
    """Losses that the driver may still have to be told of."""
    known: frozenset[int] = frozenset()
    """Executors that have been registered, while the cluster still shows their pods."""
    lost_at: Mapping[int, float] = NOTHING
    """When Spark said that it lost an executor whose pod seems well."""
    speaking_since: float | None = None
    """Since when the driver runs, and is not away; None while that is not so."""
    most_wanted: int = 0
    """The most executors of one profile that were ever wanted."""
    session: str = ""
    """The driver's session that spoke last."""
    first_id: int = 1
    """Executors with a lower id belong to an earlier session of the driver, and have to go."""
    failure: str | None = None
    unusable: Mapping[str, float] = NOTHING
    """Nodes whose shuffle service did not answer an executor, and until when they are avoided."""


@dataclass(frozen=True, slots=True)
class Create:
    """Create the pod of this executor; again, under the same name, when an earlier answer was lost."""

    id: int
    profile: int
    shape: Profile | None = None
    """None: as the template has it."""
    again: bool = False
    port: int | None = None
    """The host port of its block manager, where it needs one of its own."""
    avoid: tuple[str, ...] = ()
    """Nodes on which it should not be, if there are others."""


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete this executor's pod. `uid` "": whatever has that name and is ours. `forced`: with no grace."""

    id: int
    uid: str = ""
    forced: bool = False
    why: str = ""


Action = Create | Delete


class Answer(enum.Enum):
    """What an API server's answer means for the allocator."""

    DONE = "done"
    """Also "exists already" for a creation, when it is ours, and "not found" for a deletion."""
    LOST = "lost"
    """A time-out or a broken connection: it may have been done."""
    BUSY = "busy"
    """429 and 5xx: the server wants to be asked more slowly."""
    REFUSED = "refused"
    """Quota, an admission webhook, a right that may yet come: time may mend it."""
    HOPELESS = "hopeless"
    """Invalid, or forbidden for good: no time will mend it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an action ended. `retry_after` in seconds, where the server named one.

    `uid`: that of the pod that a creation made, or found, where it is known.
    """

    action: Action
    answer: Answer
    message: str = ""
    retry_after: float | None = None
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, why, and what to remember.

    `gone` and `refuse` are what the driver is told; `counts` every state's number of executors per profile;
    `wake_at`: when to decide again if nothing happens before.
    """

    memory: Memory
    reason: str
    actions: tuple[Action, ...] = ()
    gone: Mapping[int, Loss] = NOTHING
    refuse: frozenset[int] = frozenset()
    start: frozenset[int] = frozenset()
    """Executors that may start their JVM."""
    failure: str | None = None
    counts: Mapping[int, Mapping[State, int]] = NOTHING
    held: tuple[str, ...] = ()
    """The gates that hold executors back, by their field of `spec.allocation`."""
    wake_at: float | None = None
