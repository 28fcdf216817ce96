"""The values between asking the cluster and saying what was found."""

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
    """What is to be applied: the objects of one document, and the document's value."""

    name: str
    namespace: str
    objects: tuple[ObjectView, ...]
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the cluster did not tell, and why not. `said`: its answer, without what was asked."""

    reason: str
    said: str = ""


Live = Mapping[Key, ObjectView | Unknown | None]
"""What is there already of what is to be applied; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the API server would not take an object: the HTTP status, and what it said.

    `message`: with what was tried; `said`: without it.
    """

    status: int
    message: str
    said: str


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that pods need and nobody renders. `used_by`: the role of the first pod that needs it.

    `keys`: those that the pods take from it, each with the field of the document that names it.
    """

    kind: str
    name: str
    used_by: str
    keys: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Storage:
    """Claims of the namespace by name, and the cluster's StorageClasses and volumes."""

    claims: Mapping[str, ObjectView] = field(default_factory=dict)
    classes: tuple[ObjectView, ...] = ()
    volumes: tuple[ObjectView, ...] = ()


@dataclass(frozen=True, slots=True)
class Shared:
    """What the cluster said that is the same for all that goes into one namespace.

    `version`: as in `v1.34.1`; `namespace`: None if there is none, and then the rest is not known. `nodes`:
    all of the cluster; `there`: whether what pods refer to is there; `keys`: those of Secrets and ConfigMaps,
    where pods need some and the cluster names them; `storage`: what is known of claims.
    `runs`: Jobs of runs that are active, of all the applications. `gangs`: whether there are Kubernetes' own
    PodGroups, True where nobody needs them.
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
    """What the cluster said.

    `version`: as in `v1.34.1`; `namespace`: None if there is none. `live`: what is there already of what is
    to be applied, None where nothing is. `refused`: what dry runs of the objects came to, where they failed;
    `pods`: what creating a pod of each role would come to, None where it would work. `there`: whether what
    pods refer to is there; `keys`: as in Shared. `nodes`: all of the cluster. `storage`: what is known of
    claims. `active`: names of the application's other runs that have not ended. `gangs`: as in Shared.
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
    """One thing that was found: an ERROR stops an apply, a WARNING does not; INFO was not checked."""

    check: str
    severity: Severity
    message: str
    next_step: str = ""


def unchecked(check: str, what: str, why: Unknown) -> Finding:
    """That something could not be checked, and why not."""
    return Finding(check, Severity.INFO, f"{what}: {why.reason}")
