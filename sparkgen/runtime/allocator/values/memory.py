"""What the allocator remembers between decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP
from sparkgen.runtime.allocator.values.observed import Loss


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """A creation that was sent. `accepted`: when the server accepted it; None while it has not."""

    profile: int
    sent: float
    accepted: float | None = None
    tries: int = 1
    retry_at: float | None = None
    """When to send it again, under the same name, because its outcome is unknown (a time-out)."""
    port: int | None = None
    """The host port that it was requested with."""
    pool: str = ""
    """The pool of nodes that it was requested with; "" if the document has none."""
    uid: str = ""
    """The UID of the created pod, once the server has answered with it."""
    failed_at: float | None = None
    """When it failed without a clear answer. A list requested later shows that the server is back."""


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """A deletion that was sent. `open`: no answer yet. `accepted`: when the server accepted it."""

    sent: float
    forced: bool = False
    open: bool = True
    retry_at: float | None = None
    why: str = ""
    accepted: float | None = None

    @property
    def began(self) -> float:
        """When the pod began to end: when the deletion was accepted or, before that, when it was sent."""
        return self.sent if self.accepted is None else self.accepted


@dataclass(frozen=True, slots=True)
class Rate:
    """How many writes may be in flight, learned from the server's answers; none before `resume_at`."""

    window: int = 4
    resume_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """A pause in creating executors: until when, and why.

    `level` counts the failed rounds in a row; `permanent` counts those of them that no retry can fix.
    """

    level: int = 0
    until: float = 0.0
    reason: Hindrance | None = None
    permanent: int = 0


@dataclass(frozen=True, slots=True)
class PoolPause:
    """A pool of nodes that new executors avoid until a time; then one executor tries it.

    `length`: how long the pause lasts, in seconds. `ended_at`: when the pool gave a node again, if it has.
    """

    until: float
    length: float
    reason: Hindrance
    first_id: int
    """Executors with this or a higher id were created after the pause began."""
    waiting: frozenset[int] = frozenset()
    """The executors of the pool that had no node when the pause began."""
    ended_at: float | None = None

    def is_trial(self, now: float) -> bool:
        """Whether the pause is over, and the pool has given no node since it began."""
        return self.ended_at is None and self.until <= now

    def is_over(self, now: float) -> bool:
        """Whether the pool gave nodes for longer than the pause was: then the next pause is a first one."""
        return self.ended_at is not None and now - self.ended_at > self.length


@dataclass(frozen=True, slots=True)
class Interruption:
    """An executor of a pool that its node took with it, or had to leave."""

    pool: str
    node: str
    at: float


@dataclass(frozen=True, slots=True)
class AllocatorMemory:
    """What the allocator remembers between decisions. All of it may be lost: the cluster shows the rest."""

    next_id: int = 1
    """Never lower than an id that was used in this attempt."""
    requests: Mapping[int, CreateRequest] = EMPTY_MAP
    removals: Mapping[int, DeleteRequest] = EMPTY_MAP
    refusing: frozenset[int] = frozenset()
    rate: Rate = field(default_factory=Rate)
    refusals: Backoff = field(default_factory=Backoff)
    """After creations that the server refused; ends with the first creation that it accepts."""
    bad_starts: Backoff = field(default_factory=Backoff)
    """After executors that ended before they registered with Spark; ends when an executor registers."""
    batch_at: float | None = None
    """When the last batch began (if `AllocationSettings.batch_size` is set)."""
    batch_left: int = 0
    batches: Mapping[int, int] = EMPTY_MAP
    """How many executors of its batch a profile may still create (with
    `AllocationSettings.wait_for_registration`)."""
    failures: tuple[float, ...] = ()
    """When executors failed through the application's fault, the oldest first."""
    losses: Mapping[int, Loss] = EMPTY_MAP
    """Losses that may still have to be reported to the driver."""
    known: frozenset[int] = frozenset()
    """Executors that have registered before, and whose pods the cluster still shows."""
    lost_at: Mapping[int, float] = EMPTY_MAP
    """When Spark reported as lost an executor whose pod seems healthy."""
    speaking_since: float | None = None
    """Since when the driver has been running and reporting; None if it is not."""
    most_wanted: int = 0
    """The largest number of executors of one profile that was ever wanted."""
    session: str = ""
    """The driver's session that reported last."""
    given_up: bool = False
    """Whether that session was given up (if drivers come and go): it starts anew if it reports again."""
    first_id: int = 1
    """Executors with a lower id belong to an earlier session of the driver, and have to be deleted."""
    failure: Hindrance | None = None
    added_memory: Mapping[int, int] = EMPTY_MAP
    """MiB that the next executors get in addition, by resource profile (memory_recovery.py)."""
    unusable: Mapping[str, float] = EMPTY_MAP
    """Nodes whose shuffle service did not answer an executor, and until when to avoid them."""
    pools: Mapping[str, PoolPause] = EMPTY_MAP
    """Pools of nodes that are, or were, avoided, by name (pools.py)."""
    interruptions: tuple[Interruption, ...] = ()
    """Losses of executors within the last minutes for which a node of a pool is to blame."""
