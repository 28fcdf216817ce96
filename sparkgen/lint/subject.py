"""A valid document of an application and its rendered pods, as policy rules need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract, model, resources
from sparkgen.errors import Path
from sparkgen.jsonvalue import decode
from sparkgen.lint.evidence import Evidence, of_application
from sparkgen.lint.settings import Settings
from sparkgen.lint.view import Container, Kind, Pod, View
from sparkgen.model.application import Application
from sparkgen.model.kerberos import ENCRYPTION
from sparkgen.model.runtime import image_field
from sparkgen.resources.exposure import shows_pages
from sparkgen.semantics.facts import ROLES, SPARK_CONTAINER, DocumentFacts


@dataclass(frozen=True, slots=True)
class Subject(View):
    """A frozen view of one application's document: its facts, its application, its pods.

    `job_annotations`: those of the Job of an application that runs once; {} for others. `evidence`: the
    evidence of recorded runs of the application.
    """

    PAGES = "the Spark UI"

    facts: DocumentFacts
    application: Application
    job_annotations: Mapping[str, str]
    evidence: tuple[Evidence, ...]

    @classmethod
    def of(cls, value: Mapping[str, Any], settings: Settings, evidence: tuple[Evidence, ...] = ()) -> Subject:
        """The view of a valid document's value. `evidence`: that of recorded runs of any application."""
        facts = DocumentFacts.of(value)
        application = model.build(value)
        objects = tuple(filter(_not_history, resources.render(application)))
        templates = {"driver": _driver(objects), "executor": _executor(objects)}
        pods = tuple(_pod(facts, role, templates[role]) for role in ROLES)
        jobs = [item["metadata"].get("annotations") or {} for item in objects if item["kind"] == "Job"]
        known = of_application(value["metadata"]["name"], evidence)
        return cls(value, facts.root, pods, settings, facts, application, jobs[0] if jobs else {}, known)

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
        """Whether its driver ends by itself, in a Job or in the Jobs of a CronJob."""
        return self.facts.scheduled or self.application.restart != "Always"

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations that all its objects get."""
        return self.application.annotations

    @property
    def shows_pages(self) -> bool:
        """Whether the driver has a UI; without a UI, no object that exposes it is rendered."""
        return shows_pages(self.application.properties)

    @property
    def is_encrypted(self) -> bool:
        """Whether traffic between driver and executors is encrypted.

        Spark 3 has no TLS between them, and in Spark 4 `spark.ssl.enabled` does not switch it on
        (SSLOptions.parse: "RPC does not inherit the default enabled setting").
        """
        has_tls = not self.application.spark_version.startswith("3.")
        return self.facts.is_true(ENCRYPTION) or (has_tls and self.facts.is_true("spark.ssl.rpc.enabled"))

    def property_path(self, name: str) -> Path:
        """The path at which a Spark property is set, or would be set."""
        path = self.facts.place(name)
        return path if self.has(path) else self.facts.path("sparkConf", name)


def _not_history(item: Mapping[str, Any]) -> bool:
    """Whether an object belongs to the application itself, and not to the Job that removes ended runs."""
    labels = item["metadata"]["labels"]
    return contract.LABEL_RUN in labels or labels.get(contract.LABEL_COMPONENT) != contract.HISTORY


def _driver(objects: tuple[dict[str, Any], ...]) -> Mapping[str, Any]:
    """The driver's pod template, in the Job, Deployment or CronJob."""
    specs = {item["kind"]: item["spec"] for item in objects if "spec" in item}
    found = specs.get("Job") or specs.get("Deployment") or specs["CronJob"]["jobTemplate"]["spec"]
    template: Mapping[str, Any] = found["template"]
    return template


def _executor(objects: tuple[dict[str, Any], ...]) -> Mapping[str, Any]:
    """The executors' template, from the file that the allocator or Spark reads."""
    files = [item.get("data") or {} for item in objects if item["kind"] == "ConfigMap"]
    text = next(
        data[contract.EXECUTOR_TEMPLATE_FILE] for data in files if contract.EXECUTOR_TEMPLATE_FILE in data
    )
    return contract.executor_template(decode(text))


def _pod(facts: DocumentFacts, role: str, template: Mapping[str, Any]) -> Pod:
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
    annotated = (facts.path(role, "annotations"), facts.path(role, "template", "metadata", "annotations"))
    return Pod(role, template, tuple(found), places, annotated)


def _container(facts: DocumentFacts, role: str, spec: Mapping[str, Any], *, init: bool) -> Container:
    name = spec["name"]
    if role == "driver" and name in contract.DRIVER_HELPERS:
        return Container(role, "runtime", name, spec, (facts.path(image_field(facts.spec)),))
    if name == contract.LOG_ARCHIVE_CONTAINER and facts.get("logging", "archive") is not None:
        return Container(role, "sidecar", name, spec, (facts.path("logging", "archive"),))
    kind: Kind = "sidecar" if not init or spec.get("restartPolicy") == "Always" else "init"
    places = [item.path for item in facts.containers if (item.role, item.name) == (role, name)]
    if name == SPARK_CONTAINER[role]:
        kind = "spark"
        places = list(dict.fromkeys([facts.path(role), *places]))
    return Container(role, kind, name, spec, tuple(places) or (facts.path(role),))
