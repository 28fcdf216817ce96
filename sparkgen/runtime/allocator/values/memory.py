"""What the allocator remembers between decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP
from sparkgen.runtime.allocator.values.observed import Loss


@dataclass(frozen=True, slots=True)
class CreateRequest:
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
class DeleteRequest:
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
    """A pause in creating, until a time and for a reason.

    `level` counts the rounds in a row that went wrong, `permanent` those of them that no time will fix.
    """

    level: int = 0
    until: float = 0.0
    reason: Hindrance | None = None
    permanent: int = 0


@dataclass(frozen=True, slots=True)
class AllocatorMemory:
    """What the allocator remembers between decisions. All of it can be lost: the cluster shows the rest."""

    next_id: int = 1
    """Never below what was ever used in this attempt."""
    requests: Mapping[int, CreateRequest] = EMPTY_MAP
    removals: Mapping[int, DeleteRequest] = EMPTY_MAP
    refusing: frozenset[int] = frozenset()
    rate: Rate = field(default_factory=Rate)
    refusals: Backoff = field(default_factory=Backoff)
    """After creations that the server refused; over with the first one that it takes."""
    bad_starts: Backoff = field(default_factory=Backoff)
    """After executors that ended before Spark knew them; over with the first one that registers."""
    batch_at: float | None = None
    """When the last batch was planned (with `Settings.batch_size`)."""
    batch_left: int = 0
    batches: Mapping[int, int] = EMPTY_MAP
    """How many executors of its batch a profile may still create (with `Settings.wait_for_registration`)."""
    failures: tuple[float, ...] = ()
    """When executors failed by the application's fault, the oldest first."""
    losses: Mapping[int, Loss] = EMPTY_MAP
    """Losses that the driver may still have to be told of."""
    known: frozenset[int] = frozenset()
    """Executors that have been registered, while the cluster still shows their pods."""
    lost_at: Mapping[int, float] = EMPTY_MAP
    """When Spark said that it lost an executor whose pod seems well."""
    speaking_since: float | None = None
    """Since when the driver runs, and is not away; None while that is not so."""
    most_wanted: int = 0
    """The most executors of one profile that were ever wanted."""
    session: str = ""
    """The driver's session that spoke last."""
    given_up: bool = False
    """Whether that session was given up (where drivers come and go): it restarts if it speaks again."""
    first_id: int = 1
    """Executors with a lower id belong to an earlier session of the driver, and have to go."""
    failure: Hindrance | None = None
    unusable: Mapping[str, float] = EMPTY_MAP
    """Nodes whose shuffle service did not answer an executor, and until when they are avoided."""
