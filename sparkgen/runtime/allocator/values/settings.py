"""The settings of the allocator, most of which a user may change while the application runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostPortRange:
    """A range of host ports, `last` included, for block managers. `first + start` is given out first."""

    first: int
    last: int
    start: int = 0

    @property
    def size(self) -> int:
        """How many ports there are."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class MemoryRecovery:
    """How much more memory executors get after one was killed for lack of memory; in MiB.

    `step`: how much more than the killed one had. `maximum`: how much more in total than their profile says.
    """

    step: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of nodes. `share`: the least part of all executors that it gets, in percent."""

    name: str
    share: int = 0


@dataclass(frozen=True, slots=True)
class AllocationSettings:
    """What a user may tune while the application runs (tuning.json); times in seconds.

    `batch_size` None: as fast as the API server accepts it. With a number: at most that many creations every
    `batch_delay`, like Spark's own backend.
    """

    dynamic: bool = False
    instances: int = 1
    minimum: int = 0
    initial: int = 0
    maximum: int | None = None
    """The maximum for all resource profiles together (ceiling.py); None: the document has none."""
    batch_size: int | None = None
    batch_delay: float = 1.0
    max_pending: int | None = None
    """The most executors that may be requested or pending at a time, all profiles together."""
    max_unschedulable: int = 100
    """No more executors are created while this many have no node. docs/design/allocation.md says how the
    default was chosen."""
    wait_for_registration: bool = False
    """Create no further batch of a profile until every executor of its last batch has registered."""
    executor_timeout: float = 600.0
    """How long a requested pod may stay unseen, and a running executor unregistered."""
    pending_timeout: float | None = None
    """How long a pod may be pending; None: forever, because a full cluster is nobody's failure."""
    max_failures: int | None = None
    """Failures within `failures_interval` that end the application; None: Spark's max(3, 2 x executors)."""
    failures_interval: float = 3600.0
    memory_recovery: MemoryRecovery | None = None
    """None: executors always have the memory of their profile, also after one had too little."""
    grace: float = 30.0
    """The template's terminationGracePeriodSeconds: on a healthy node, no deletion takes longer."""
    gang: int = 0
    """From the template: the number of executors that Kubernetes' scheduler places together or not at all."""
    hold: bool = False
    """No executor is wanted for now: those that exist leave, and the driver keeps waiting."""
    locality: bool = True
    """Whether executors prefer nodes with data for their tasks, and tasks wait for these nodes."""
    data_hosts: tuple[tuple[str, str], ...] = ()
    """Hosts of data, as the storage reports them, and the names of their nodes."""
    pools: tuple[Pool, ...] = ()
    """From the template: the pools of nodes for executors, the preferred one first; (): any node."""
    pool_timeout: float = 300.0
    """How long an executor waits for a node of its pool until another pool is tried, and the first pause."""
    host_ports: HostPortRange | None = None
    """From the template: each executor gets its own host port, because a shuffle service serves its files."""
