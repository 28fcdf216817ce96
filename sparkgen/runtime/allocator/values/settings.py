"""What a user may change while the application runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostPortRange:
    """A range of host ports for block managers, both ends included; `start` ports into it giving begins."""

    first: int
    last: int
    start: int = 0

    @property
    def size(self) -> int:
        """How many ports there are."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class AllocationSettings:
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
    """How long a pod may be pending; None: forever, as a full cluster is nobody's failure."""
    max_failures: int | None = None
    """Failures within `failures_interval` that end the application; None: Spark's max(3, 2 x executors)."""
    failures_interval: float = 3600.0
    grace: float = 30.0
    """The template's terminationGracePeriodSeconds: no deletion takes longer on a node that is well."""
    gang: int = 0
    """The template's: so many executors are placed together or not at all, by the scheduler of Kubernetes."""
    locality: bool = True
    """Executors are asked for on the nodes that have data for their tasks, and tasks wait for these nodes."""
    data_hosts: tuple[tuple[str, str], ...] = ()
    """Hosts of data, as storage reports them, and the names of the nodes that they are on."""
    host_ports: HostPortRange | None = None
    """The template's: each executor has a host port of its own, because a shuffle service works for it."""
