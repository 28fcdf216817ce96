"""Creations and deletions of executors, and their outcomes."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.target import Profile
from sparkgen.runtime.kubernetes.answers import Answer


@dataclass(frozen=True, slots=True)
class NodeWish:
    """A node that an executor should preferably run on. `weight`, 1 to 100, ranks the wishes of one pod.

    `node` is the node's name, if known. Otherwise `hostnames` has possible values of the node's label
    kubernetes.io/hostname.
    """

    weight: int
    node: str = ""
    hostnames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Create:
    """Create the pod of this executor. `again`: under the same name, because an earlier answer got lost."""

    id: int
    profile: int
    shape: Profile | None = None
    """None: the size that the template has."""
    again: bool = False
    port: int | None = None
    """The host port of its block manager, if it needs a host port."""
    avoid: tuple[str, ...] = ()
    """Nodes to avoid if there are others."""
    gang: bool = False
    """Whether the pod belongs to a gang: its pods get nodes together, or not at all."""
    wishes: tuple[NodeWish, ...] = ()
    """Nodes to prefer, because they have data for its tasks."""
    added_memory: int = 0
    """MiB of memory in addition to that of its profile."""
    pool: str = ""
    """The pool of nodes that it selects; "" if the document has none."""


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete this executor's pod. `uid` "": any pod of ours with the name. `forced`: no grace period."""

    id: int
    uid: str = ""
    forced: bool = False
    why: str = ""


Action = Create | Delete


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """How an action ended. `retry_after` in seconds, if the server named a pause.

    `uid`: the UID of the pod that a creation made or found, if known.
    `hindrance`: why the action was not done.
    """

    action: Action
    answer: Answer
    hindrance: Hindrance | None = None
    retry_after: float | None = None
    uid: str = ""
