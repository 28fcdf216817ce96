"""The values of the checks: what is to be applied, facts about the cluster, and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sparkgen.errors import Severity
from sparkgen.objects import ObjectView

Key = tuple[str, str]
"""Kind and name of an object."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be applied: the objects of one document, and the document itself.

    `runtime`: the name of the ConfigMap with the runtime, which is applied before them; "" for none.
    `pinned`: the name of one of another version, which exists.
    """

    name: str
    namespace: str
    objects: tuple[ObjectView, ...]
    document: Mapping[str, Any]
    runtime: str = ""
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact that could not be read, and why. `said`: the cluster's message, without the request."""

    reason: str
    said: str = ""


Live = Mapping[Key, ObjectView | Unknown | None]
"""The existing state of each object that is to be applied; None if the object does not exist."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the API server refuses an object: the HTTP status, and the server's message.

    `message`: with the request that failed; `said`: without it.
    """

    status: int
    message: str
    said: str


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that pods need and sparkgen does not render. `used_by`: the role of the first pod to need it.

    `keys`: the keys that pods take from it, each with the field of the document that names it.
    """

    kind: str
    name: str
    used_by: str
    keys: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Storage:
    """The namespace's Pending claims by name, and the cluster's StorageClasses and volumes."""

    claims: Mapping[str, ObjectView] = field(default_factory=dict)
    classes: tuple[ObjectView, ...] = ()
    volumes: tuple[ObjectView, ...] = ()


@dataclass(frozen=True, slots=True)
class Shared:
    """Facts about the cluster that all applications of one namespace share.

    `version`: as in `v1.34.1`; `namespace`: None if it does not exist, and then the other facts are not read.
    `nodes`: all of the cluster; `there`: whether an object exists that pods refer to; `keys`: the keys of
    Secrets and ConfigMaps, if pods need some and the cluster returns them; `storage`: of claims that wait.
    `runs`: the active Jobs of runs, of all applications. `gangs`: whether the cluster has Kubernetes' own
    PodGroups; True if no application needs them.
    """

    version: str | Unknown
    namespace: ObjectView | Unknown | None
    quotas: tuple[ObjectView, ...] | Unknown = ()
    nodes: tuple[ObjectView, ...] | Unknown = ()
    there: Mapping[Key, bool | Unknown] = field(default_factory=dict)
    keys: Mapping[Key, frozenset[str]] = field(default_factory=dict)
    storage: Storage | Unknown = field(default_factory=Storage)
    runs: tuple[ObjectView, ...] | Unknown = ()
    gangs: bool | Unknown = True


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Facts about the cluster, and about one application in it.

    `version`: as in `v1.34.1`; `namespace`: None if it does not exist. `live`: the existing state of each
    object that is to be applied, None if it does not exist. `refused`: the objects whose dry run failed, and
    why; `pods`: why a pod of each role is refused, None if it is not. `there`: whether an object exists that
    pods refer to; `keys`: as in Shared. `nodes`: all of the cluster. `storage`: as in Shared. `active`: the
    names of the application's other active runs. `gangs`: as in Shared.
    """

    version: str | Unknown
    namespace: ObjectView | Unknown | None
    live: Mapping[Key, ObjectView | Unknown | None] = field(default_factory=dict)
    refused: Mapping[Key, Refusal] = field(default_factory=dict)
    pods: Mapping[str, Refusal | None] = field(default_factory=dict)
    there: Mapping[Reference, bool | Unknown] = field(default_factory=dict)
    keys: Mapping[Key, frozenset[str]] = field(default_factory=dict)
    quotas: tuple[ObjectView, ...] | Unknown = ()
    nodes: tuple[ObjectView, ...] | Unknown = ()
    storage: Storage | Unknown = field(default_factory=Storage)
    active: tuple[str, ...] | Unknown = ()
    now: datetime = datetime.min
    gangs: bool | Unknown = True


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: an ERROR stops an apply, a WARNING does not, and INFO is what could not be checked."""

    check: str
    severity: Severity
    message: str
    next_step: str = ""


def unchecked(check: str, what: str, why: Unknown) -> Finding:
    """Returns the finding that something could not be checked, and why."""
    return Finding(check, Severity.INFO, f"{what}: {why.reason}")
