"""Creations and deletions of executors, and how they ended."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.target import Profile
from sparkgen.runtime.kubernetes.answers import Answer


@dataclass(frozen=True, slots=True)
class NodeWish:
    """A node on which an executor had best be. `weight` from 1 to 100, beside the other wishes of its pod.

    `node`: its name, where that is known; else `hostnames`: what its label kubernetes.io/hostname may be.
    """

    weight: int
    node: str = ""
    hostnames: tuple[str, ...] = ()


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
    gang: bool = False
    """Whether it is placed together with others, or not at all."""
    wishes: tuple[NodeWish, ...] = ()
    """Nodes on which it had best be, as they have data for its tasks."""


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete this executor's pod. `uid` "": whatever has that name and is ours. `forced`: with no grace."""

    id: int
    uid: str = ""
    forced: bool = False
    why: str = ""


Action = Create | Delete


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """How an action ended. `retry_after` in seconds, where the server named one.

    `uid`: that of the pod that a creation made, or found, where it is known.
    `hindrance`: why it was not done.
    """

    action: Action
    answer: Answer
    hindrance: Hindrance | None = None
    retry_after: float | None = None
    uid: str = ""
