"""The executors that the cluster shows, and the states of executors.

Times are seconds of one monotonic clock of this process (`now`), never of another machine: clocks of nodes
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
    """The state of an executor. Each id is in exactly one state."""

    __hash__ = object.__hash__  # by identity: every decision looks it up dozens of times, and Enum's is slow

    PLANNED = "planned"
    """This decision creates it; its request has not been sent."""
    REQUESTED = "requested"
    """The request has been sent; the cluster has not shown its pod yet."""
    PENDING = "pending"
    """Its pod exists, but does not run yet."""
    RUNNING = "running"
    """Its pod runs, but has not registered with Spark yet."""
    REGISTERED = "registered"
    """Registered with Spark, which gives it tasks."""
    DRAINING = "draining"
    """Leaving: Spark removed or decommissions it, or its pod is being deleted."""
    GONE = "gone"
    """Its pod has ended, or no longer exists."""


class PodPhase(enum.Enum):
    """A pod's phase, in the terms of Kubernetes (PodStatus.phase)."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


class Cause(enum.Enum):
    """Why an executor is gone; the words of the report to the driver (docs/design/protocol.md)."""

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
    """How an executor ended. `by_application`: by its own fault, so its tasks count as failed."""

    cause: Cause
    message: str
    by_application: bool = False
    exit_code: int | None = None

    @property
    def without_artifact(self) -> bool:
        """Whether its `fetch` could not get the pushed files: it would fail in every other executor, too."""
        return self.cause is Cause.FAILED_START and self.exit_code == contract.BAD_ARTIFACT

    @property
    def hindrance(self) -> Hindrance:
        """The loss as a Hindrance, with its code."""
        full = self.cause is Cause.EXITED and self.exit_code == HEAP_FULL
        if self.without_artifact:
            return Hindrance(Code.BAD_ARTIFACT, self.message)
        return Hindrance(Code.HEAP_FULL if full else CODES[self.cause], self.message)


IN_QUEUE = "waiting to be admitted by the queue"
"""The words for what a pod with a scheduling gate waits for."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a pending pod does not run: Kubernetes' own reason and message.

    `permanent`: waiting does not help, because the image cannot be pulled or the container cannot be created.
    """

    reason: str
    message: str
    permanent: bool = False

    @property
    def queued(self) -> bool:
        """Whether the pod has a scheduling gate: that of a queue, until the queue admits the pod."""
        return self.reason == Code.SCHEDULING_GATED

    @property
    def code(self) -> Code:
        """The code for this reason; CONTAINER_WAITING for an unknown reason."""
        return Code(self.reason) if self.reason in WAITING else Code.CONTAINER_WAITING

    def hindering(self, whom: str) -> Hindrance:
        """The Hindrance for this reason. `whom`: how the sentence begins, such as "3 pending, "."""
        words = IN_QUEUE if self.queued else self.reason
        return Hindrance(self.code, f"{whom}{words}", self.message)


@dataclass(frozen=True, slots=True)
class ObservedExecutor:
    """An executor's pod as the cluster shows it.

    `since`: when this process first saw it in this phase; if it was queued, when it first saw it without
    gates.
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
    """Set if it has ended (phase Succeeded or Failed), or if its node is lost."""
    port: int | None = None
    """The host port of its block manager, if it has one."""
    gang: bool = False
    """Whether its pod belongs to a gang: its pods get nodes together, or not at all."""
    added_memory: int = 0
    """MiB of memory that it got in addition to that of its profile."""
    pool: str = ""
    """The pool of nodes that its pod selects; "" if it has none."""
    found_ended: bool = False
    """It had ended when this process first saw it. Whether it was asked to end is then unknown."""

    @property
    def queued(self) -> bool:
        """Whether its pod waits in a queue (has a scheduling gate)."""
        return self.waiting is not None and self.waiting.queued


@dataclass(frozen=True, slots=True)
class ListFailure:
    """Why the last list failed; `reason` is None if it succeeded.

    `permanent` counts the failed lists in a row that no retry can fix.
    """

    reason: Hindrance | None = None
    permanent: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All executors of this attempt that the cluster shows.

    `complete` is false until a whole list has been read, and while later changes may have been missed: an
    incomplete snapshot does not prove that an executor is gone. `listed_at`: when the request for the last
    whole list was sent (None: never). An executor that was created before that and is not listed does not
    exist.
    """

    complete: bool = False
    executors: Mapping[int, ObservedExecutor] = EMPTY_MAP
    listed_at: float | None = None
    vanished: Mapping[int, ObservedExecutor] = EMPTY_MAP
    """Executors that were deleted during a watch, in their last state; the oldest may be forgotten."""
    started: frozenset[int] = frozenset()
    """Executors that got permission to start: they may register at any moment."""
    list_failure: ListFailure = ListFailure()
