"""The values that the comparison returns, for printing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sparkgen import contract
from sparkgen.objects import ObjectView

if TYPE_CHECKING:
    from sparkgen.whatif.prediction import Prediction

State = Literal["added", "removed", "changed"]
Action = Literal["added", "removed", "changed", "replaced", "kept"]

WORKLOADS = ("Job", "CronJob", "Deployment")


OWNERS = (
    contract.LABEL_APPLICATION,
    contract.LABEL_HISTORY_SERVER,
    contract.LABEL_SHUFFLE_SERVICE,
    contract.LABEL_STAGING_SERVER,
)
"""The labels with the name of what an object belongs to."""


def owner_label(item: ObjectView) -> tuple[str, str]:
    """The label of OWNERS that an object has, and its value; two "" without one."""
    labels = item["metadata"].get("labels") or {}
    return next(((label, str(labels[label])) for label in OWNERS if label in labels), ("", ""))


@dataclass(frozen=True, slots=True)
class Side:
    """One application on one side.

    `objects`: its Kubernetes objects. `document`: the value from which it was rendered, with overlays; None
    if only objects are known. `source`: the file, for people. `environment`: of a repository with several
    environments.
    """

    name: str
    namespace: str
    objects: tuple[ObjectView, ...]
    document: Mapping[str, Any] | None = None
    source: str = ""
    environment: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The key that identifies the application on both sides: a server may have an application's name."""
        labels = (label for item in self.objects if (label := owner_label(item)[0]))
        return self.environment, self.namespace, self.name, next(labels, "")

    @property
    def run(self) -> str:
        """The name of its run, from the label of the run's objects; "" without a run."""
        for item in self.objects:
            run = item["metadata"].get("labels", {}).get(contract.LABEL_RUN)
            if run:
                return str(run)
        return ""

    @property
    def workload(self) -> ObjectView | None:
        """The object that runs the driver."""
        drivers = (item for item in self.objects if item["kind"] in WORKLOADS and not _is_history(item))
        return next(drivers, None)


def _is_history(item: ObjectView) -> bool:
    """Whether an object is the Job that removes ended runs."""
    labels = item["metadata"].get("labels") or {}
    return contract.LABEL_RUN not in labels and labels.get(contract.LABEL_COMPONENT) == contract.HISTORY


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One change in a document, or in effect.

    `path`: its place; `label`: the place in words; `title`: from the schema; `old`, `new`: texts, "" for no
    value. `in_run`: whether it is part of the run's hash.
    """

    path: str
    label: str
    old: str
    new: str
    in_run: bool
    title: str = ""


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """The change of a Kubernetes object. "replaced": an object of a run; the new run's is created beside it.

    `old_name`, `new_name`: "" if there is no such object. `diff`: unified, of YAML; if objects of two runs
    are compared, with the new run's name in both. `note`: the server's message, if it refused.
    """

    action: Action
    kind: str
    old_name: str
    new_name: str
    diff: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an apply starts a run, why, and which parts of the hash changed.

    `sentence` follows "starts a new run: yes" or "no". `parts`: the parts of the hash's input that differ.
    """

    starts: bool
    sentence: str
    old: str = ""
    new: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApplicationDiff:
    """All changes of one application. `prediction`: of its next run, where evidence was given."""

    name: str
    namespace: str
    source: str
    state: State
    verdict: Verdict
    fields: tuple[FieldChange, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    environment: str = ""
    prediction: Prediction | None = None

    @property
    def title(self) -> str:
        """`analytics/pi`, after its environment if there are several."""
        return f"{self.environment}: {self.namespace}/{self.name}".removeprefix(": ")


@dataclass(frozen=True, slots=True)
class Difference:
    """The two sides in words, the applications that differ, and the number of those that do not."""

    old: str
    new: str
    applications: tuple[ApplicationDiff, ...]
    unchanged: int
    overrides: tuple[str, ...] = ()
    """A sentence for each file by which another tool changes what it applies of the old side."""
    notes: tuple[str, ...] = ()
    """A sentence for each file of the old side that is not compared; it is no difference by itself."""

    def __bool__(self) -> bool:
        return bool(self.applications or self.overrides)
