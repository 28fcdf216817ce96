"""What the cluster shows of executors, and the states that this puts them in.

Times are seconds of one monotonic clock of this process (`now`), never of another machine's: clocks of nodes
and of the API server may be wrong.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen import contract
from sparkgen.codes import WAITING, Code, Hindrance
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP


class ExecutorState(enum.Enum):
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


class PodPhase(enum.Enum):
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


CODES: Mapping[Cause, Code] = {
    Cause.KILLED: Code.KILLED,
    Cause.EXITED: Code.EXITED,
    Cause.OOM: Code.OUT_OF_MEMORY,
    Cause.EVICTED: Code.EVICTED,
    Cause.PREEMPTED: Code.PREEMPTED,
    Cause.NODE_LOST: Code.NODE_LOST,
    Cause.DELETED: Code.DELETED,
    Cause.FAILED_START: Code.FAILED_TO_START,
    Cause.UNKNOWN: Code.ENDED_UNSEEN,
}
HEAP_FULL = 52
"""Exit code of an executor whose Java heap was full (Spark's SparkExitCode.OOM)."""


@dataclass(frozen=True, slots=True)
class Loss:
    """How an executor ended. `by_application`: its own fault, which counts against its tasks."""

    cause: Cause
    message: str
    by_application: bool = False
    exit_code: int | None = None

    @property
    def without_artifact(self) -> bool:
        """Whether its `fetch` could not have what was pushed: no other executor will."""
        return self.cause is Cause.FAILED_START and self.exit_code == contract.BAD_ARTIFACT

    @property
    def hindrance(self) -> Hindrance:
        """The same with a code."""
        full = self.cause is Cause.EXITED and self.exit_code == HEAP_FULL
        if self.without_artifact:
            return Hindrance(Code.BAD_ARTIFACT, self.message)
        return Hindrance(Code.HEAP_FULL if full else CODES[self.cause], self.message)


IN_QUEUE = "waiting to be admitted by the queue"
"""What a pod with a scheduling gate waits for, in words."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a pending pod does not run: Kubernetes' own reason and message.

    `permanent`: waiting does not help, as the image cannot be had or the container cannot be made.
    """

    reason: str
    message: str
    permanent: bool = False

    @property
    def queued(self) -> bool:
        """Whether the pod waits behind a scheduling gate: a queue's, until it lets the pod go."""
        return self.reason == Code.SCHEDULING_GATED

    @property
    def code(self) -> Code:
        """The reason where it is one that is known."""
        return Code(self.reason) if self.reason in WAITING else Code.CONTAINER_WAITING

    def hindering(self, whom: str) -> Hindrance:
        """That it hinders; `whom`: what the sentence begins with, as in "3 pending, "."""
        words = IN_QUEUE if self.queued else self.reason
        return Hindrance(self.code, f"{whom}{words}", self.message)


@dataclass(frozen=True, slots=True)
class ObservedExecutor:
    """An executor's pod as the cluster shows it.

    `since`: when this process first saw it in this phase, or, where it waited in a queue, without its gates.
    """

    id: int
    profile: int
    name: str
    uid: str
    phase: PodPhase
    since: float
    node: str = ""
    node_address: str = ""
    deleting: bool = False
    waiting: Waiting | None = None
    loss: Loss | None = None
    """Set when it has ended (phase Succeeded or Failed), or when its node is lost."""
    port: int | None = None
    """The host port of its block manager, where it has one."""
    gang: bool = False
    """Whether its pod is placed together with others, or not at all."""
    found_ended: bool = False
    """It had ended when this process saw it first: nobody knows any more what was asked of it."""

    @property
    def queued(self) -> bool:
        """Whether its pod waits in a queue: it has a scheduling gate."""
        return self.waiting is not None and self.waiting.queued


@dataclass(frozen=True, slots=True)
class ListFailure:
    """Why the last list was not given; None when it was.

    `permanent` counts the tries in a row that were refused in a way that no time will fix.
    """

    reason: Hindrance | None = None
    permanent: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All executors of this attempt that the cluster shows.

    `complete` is false until a whole list has been read, and while what came after it may have been missed:
    from an incomplete snapshot nobody may conclude that something is gone. `listed_at`: when the request
    for the last whole list was sent (None: never), so what was created before and is not here is not there.
    """

    complete: bool = False
    executors: Mapping[int, ObservedExecutor] = EMPTY_MAP
    listed_at: float | None = None
    vanished: Mapping[int, ObservedExecutor] = EMPTY_MAP
    """Executors that were deleted while a watch ran, as they were last; the oldest may be forgotten."""
    started: frozenset[int] = frozenset()
    """Executors that were told to start: they may register at any moment."""
    list_failure: ListFailure = ListFailure()
