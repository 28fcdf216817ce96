"""What the tests of rendered objects share: a small document, rendered, with its parts at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.model import build
from sparkgen.resources import render

SPEC: dict[str, Any] = {
    "type": "Scala",
    "sparkVersion": "3.5.8",
    "image": "spark:3.5.8",
    "mainClass": "org.example.Main",
    "mainApplicationFile": "local:///opt/app/main.jar",
}


@dataclass(frozen=True)
class Rendered:
    """The objects of one application."""

    objects: tuple[dict[str, Any], ...]

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Every object of a kind."""
        return [item for item in self.objects if item["kind"] == kind]

    def one(self, kind: str) -> dict[str, Any]:
        """The only object of a kind."""
        (item,) = self.all(kind)
        return item

    def config_map(self, suffix: str) -> dict[str, Any]:
        """The ConfigMap whose name ends so."""
        (item,) = [item for item in self.all("ConfigMap") if item["metadata"]["name"].endswith(f"-{suffix}")]
        return item

    @property
    def workload(self) -> dict[str, Any]:
        """The driver's Job, CronJob or Deployment."""
        kinds = ("Job", "CronJob", "Deployment")
        return next(item for item in self.objects if item["kind"] in kinds)

    @property
    def driver(self) -> dict[str, Any]:
        """The driver's pod template."""
        spec = self.workload["spec"]
        if self.workload["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        template: dict[str, Any] = spec["template"]
        return template

    @property
    def executor(self) -> dict[str, Any]:
        """The executor's pod template."""
        file = json.loads(self.config_map("executor")["data"]["executor.json"])
        return dict(contract.executor_template(file))

    def pod(self, role: str) -> dict[str, Any]:
        """The pod template of a role."""
        return self.driver if role == "driver" else self.executor

    def spark(self, role: str) -> dict[str, Any]:
        """The Spark container of a role."""
        return named(self.pod(role)["spec"]["containers"])[f"spark-kubernetes-{role}"]

    def env(self, role: str) -> dict[str, Any]:
        """The Spark container's variables: name -> text, or the source of it."""
        return {item["name"]: item.get("value", item.get("valueFrom")) for item in self.spark(role)["env"]}

    def volumes(self, role: str) -> dict[str, dict[str, Any]]:
        """The pod's volumes by name."""
        return named(self.pod(role)["spec"]["volumes"])

    @property
    def tuning(self) -> dict[str, Any]:
        """The tuning file."""
        value: dict[str, Any] = json.loads(self.config_map("tuning")["data"]["tuning.json"])
        return value


def named(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Items by their name, each of which must be the only one."""
    result = {item["name"]: item for item in items}
    assert len(result) == len(items), [item["name"] for item in items]
    return result


def document(
    kind: str = "SparkApplication", metadata: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    """A small document with these fields on top; a scheduled one runs daily."""
    inner = {**SPEC, **spec}
    outer = inner if kind == "SparkApplication" else {"schedule": "@daily", "template": inner}
    return {"kind": kind, "metadata": {"name": "pi", **(metadata or {})}, "spec": outer}


@pytest.fixture
def rendered() -> Callable[..., Rendered]:
    """A function: the objects of a small document with these fields in its spec."""

    def make(kind: str = "SparkApplication", metadata: dict[str, Any] | None = None, **spec: Any) -> Rendered:
        return Rendered(render(build(document(kind, metadata, **spec))))

    return make
