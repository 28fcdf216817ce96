"""The values that travel from comparing to printing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sparkgen import contract
from sparkgen.objects import ObjectView

State = Literal["added", "removed", "changed"]
Action = Literal["added", "removed", "changed", "replaced", "kept"]

WORKLOADS = ("Job", "CronJob", "Deployment")


@dataclass(frozen=True, slots=True)
class Side:
    """One application on one side.

    `objects`: its Kubernetes objects. `document`: the value it was rendered from, overlays in it; None where
    only objects are known. `source`: the file, for people. `environment`: of a repository with several.
    """

    name: str
    namespace: str
    objects: tuple[ObjectView, ...]
    document: Mapping[str, Any] | None = None
    source: str = ""
    environment: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same application on the other side."""
        return self.environment, self.namespace, self.name

    @property
    def run(self) -> str:
        """The name of its run: the label of the objects that belong to it; "" without any."""
        for item in self.objects:
            run = item["metadata"].get("labels", {}).get(contract.LABEL_RUN)
            if run:
                return str(run)
        return ""

    @property
    def workload(self) -> ObjectView | None:
        """What runs the driver."""
        drivers = (item for item in self.objects if item["kind"] in WORKLOADS and not _is_history(item))
        return next(drivers, None)


def _is_history(item: ObjectView) -> bool:
    """Whether an object is the Job that removes ended runs."""
    labels = item["metadata"].get("labels") or {}
    return contract.LABEL_RUN not in labels and labels.get(contract.LABEL_COMPONENT) == contract.HISTORY


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One thing that a person changed, or that changed in effect.

    `path`: where it stands; `label`: in words; `title`: the schema's; `old`, `new`: texts, "" for nothing.
    `in_run`: whether it is part of the run's hash.
    """

    path: str
    label: str
    old: str
    new: str
    in_run: bool
    title: str = ""


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One Kubernetes object. A "replaced" one belongs to a run: the new run's stands beside the old one's.

    `old_name`, `new_name`: "" where there is none. `diff`: unified, of YAML; where objects of two runs are
    compared, with the new run's name in both. `note`: what the server said, if it refused.
    """

    action: Action
    kind: str
    old_name: str
    new_name: str
    diff: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether applying starts a run, why, and what of the hash changed.

    `sentence` follows "starts a new run: yes" or "no". `parts`: what the hash is over and is different.
    """

    starts: bool
    sentence: str
    old: str = ""
    new: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApplicationDiff:
    """All that would change for one application."""

    name: str
    namespace: str
    source: str
    state: State
    verdict: Verdict
    fields: tuple[FieldChange, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    environment: str = ""

    @property
    def title(self) -> str:
        """`analytics/pi`, with its environment in front where there are several."""
        return f"{self.environment}: {self.namespace}/{self.name}".removeprefix(": ")


@dataclass(frozen=True, slots=True)
class Difference:
    """What is compared, in words, the applications that differ, and how many do not."""

    old: str
    new: str
    applications: tuple[ApplicationDiff, ...]
    unchanged: int

    def __bool__(self) -> bool:
        return bool(self.applications)
