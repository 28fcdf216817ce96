"""One valid document and the pods that are rendered from it, as the rules of policy need them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sparkgen import contract, model, resources
from sparkgen.errors import Path
from sparkgen.lint.settings import Settings
from sparkgen.model.application import Application
from sparkgen.semantics.facts import ROLES, SPARK_CONTAINER, Facts

Kind = Literal["spark", "init", "sidecar", "runtime"]

_RUNTIME = (contract.INSTALL_CONTAINER, contract.ALLOCATOR_CONTAINER)


@dataclass(frozen=True, slots=True)
class Container:
    """A container as it is rendered.

    `kind`: "runtime" for the two of sparkgen's own. `places`: where the document describes it, the one that
    wins first.
    """

    role: str
    kind: Kind
    name: str
    spec: Mapping[str, Any]
    places: tuple[Path, ...]

    def security(self, *names: str) -> Any:
        """A setting of its own security context, or None."""
        return _dig(self.spec, ("securityContext", *names))


@dataclass(frozen=True, slots=True)
class Pod:
    """The driver's or the executors' pod as it is rendered.

    `places`: where the document has its security context.
    """

    role: str
    template: Mapping[str, Any]
    containers: tuple[Container, ...]
    places: tuple[Path, ...]

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec."""
        inside: Mapping[str, Any] = self.template["spec"]
        return inside

    @property
    def annotations(self) -> Mapping[str, str]:
        """The pod's annotations."""
        found: Mapping[str, str] = self.template["metadata"].get("annotations") or {}
        return found

    def security(self, *names: str) -> Any:
        """A setting of the pod's security context, or None."""
        return _dig(self.spec, ("securityContext", *names))


@dataclass(frozen=True, slots=True)
class Subject:
    """A frozen view of one document: its facts, its application, its pods. Nothing here may be changed.

    `job_annotations`: those of the Job of an application that runs once; none for all others.
    """

    facts: Facts
    application: Application
    pods: tuple[Pod, ...]
    job_annotations: Mapping[str, str]
    settings: Settings

    @classmethod
    def of(cls, value: Mapping[str, Any], settings: Settings) -> Subject:
        """The view of a valid document's value."""
        facts = Facts.of(value)
        application = model.build(value)
        objects = tuple(filter(_not_history, resources.render(application)))
        templates = {"driver": _driver(objects), "executor": _executor(objects)}
        pods = tuple(_pod(facts, role, templates[role]) for role in ROLES)
        jobs = [item["metadata"].get("annotations") or {} for item in objects if item["kind"] == "Job"]
        return cls(facts, application, pods, jobs[0] if jobs else {}, settings)

    @property
    def driver(self) -> Pod:
        """The driver's pod."""
        return self.pods[0]

    @property
    def executor(self) -> Pod:
        """The executors' pod."""
        return self.pods[1]

    @property
    def ends(self) -> bool:
        """Whether its driver runs to an end: a Job, or the Jobs of a CronJob."""
        return self.facts.scheduled or self.application.restart != "Always"

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations that all its objects get."""
        return self.application.annotations

    def containers(self, *kinds: Kind) -> Iterator[tuple[Pod, Container]]:
        """The containers of these kinds (of all but sparkgen's own, if none is named), with their pods."""
        for pod in self.pods:
            for container in pod.containers:
                if container.kind in (kinds or ("spark", "init", "sidecar")):
                    yield pod, container

    def has(self, path: Path) -> bool:
        """Whether the document says anything at a path."""
        return self.at(path) is not None

    def at(self, path: Path) -> Any:
        """What the document says at a path, or None."""
        return _dig(self.facts.value, path)

    def where(self, places: tuple[Path, ...], *names: str) -> Path:
        """The path of a field in the first place that has it; in the first of all if none has."""
        paths = [(*place, *names) for place in places]
        return next((path for path in paths if self.has(path)), paths[0])

    def property_path(self, name: str) -> Path:
        """Where a Spark property is said, or would be."""
        path = self.facts.place(name)
        return path if self.has(path) else self.facts.path("sparkConf", name)


def _dig(value: Any, parts: Path) -> Any:
    for part in parts:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


def _not_history(item: Mapping[str, Any]) -> bool:
    """Whether an object is the application's itself, and not of the Job that removes ended runs."""
    labels = item["metadata"]["labels"]
    return contract.LABEL_RUN in labels or labels.get(contract.LABEL_COMPONENT) != contract.HISTORY


def _driver(objects: tuple[dict[str, Any], ...]) -> Mapping[str, Any]:
    """The pod template of the one object that has one."""
    specs = {item["kind"]: item["spec"] for item in objects if "spec" in item}
    found = specs.get("Job") or specs.get("Deployment") or specs["CronJob"]["jobTemplate"]["spec"]
    template: Mapping[str, Any] = found["template"]
    return template


def _executor(objects: tuple[dict[str, Any], ...]) -> Mapping[str, Any]:
    """The executors' template, out of the file that the allocator reads."""
    files = [item["data"] for item in objects if item["kind"] == "ConfigMap"]
    text = next(
        data[contract.EXECUTOR_TEMPLATE_FILE] for data in files if contract.EXECUTOR_TEMPLATE_FILE in data
    )
    template: Mapping[str, Any] = json.loads(text)["template"]
    return template


def _pod(facts: Facts, role: str, template: Mapping[str, Any]) -> Pod:
    spec = template["spec"]
    found = [
        _container(facts, role, container, init=field == "initContainers")
        for field in ("initContainers", "containers")
        for container in spec.get(field) or ()
    ]
    places = (
        facts.path(role, "podSecurityContext"),
        facts.path(role, "template", "spec", "securityContext"),
    )
    return Pod(role, template, tuple(found), places)


def _container(facts: Facts, role: str, spec: Mapping[str, Any], *, init: bool) -> Container:
    name = spec["name"]
    if role == "driver" and name in _RUNTIME:
        return Container(role, "runtime", name, spec, (facts.path("runtimeImage"),))
    kind: Kind = "sidecar" if not init or spec.get("restartPolicy") == "Always" else "init"
    places = [item.path for item in facts.containers if (item.role, item.name) == (role, name)]
    if name == SPARK_CONTAINER[role]:
        kind = "spark"
        places = list(dict.fromkeys([facts.path(role), *places]))
    return Container(role, kind, name, spec, tuple(places) or (facts.path(role),))
