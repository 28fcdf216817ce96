"""Documents, and what a cluster says about them, for the tests of the preflight."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sparkgen import model, resources
from sparkgen.preflight import ClusterFacts, Finding, Wanted, judge, needs

NOW = datetime(2026, 11, 22, tzinfo=UTC)
NAMESPACE = {"kind": "Namespace", "metadata": {"name": "analytics", "labels": {}}}


def document(**spec: Any) -> dict[str, Any]:
    """A valid document; `spec` is laid over its own."""
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "pi"},
        "spec": {
            "type": "Python",
            "sparkVersion": "3.5.8",
            "image": "apache/spark:3.5.8",
            "mainApplicationFile": "local:///opt/app.py",
            "executor": {"instances": 4, "memory": "1g"},
            **spec,
        },
    }


def wanted(**spec: Any) -> Wanted:
    """What is to be applied of such a document."""
    value = document(**spec)
    return Wanted("pi", "analytics", tuple(resources.render(model.build(value, "analytics"))), value)


def node(*images: str, **said: Any) -> dict[str, Any]:
    """A node with room for everything, and these images."""
    allocatable = {"cpu": "64", "memory": "256Gi", "pods": "110", **said.pop("allocatable", {})}
    status = {"allocatable": allocatable, "images": [{"names": list(images)}]}
    return {"metadata": {"name": "n", "labels": said.pop("labels", {})}, "spec": said, "status": status}


def facts(asked: Wanted, **known: Any) -> ClusterFacts:
    """A cluster in which all is well, but for what is said."""
    good_node = node("docker.io/apache/spark:3.5.8", "runtime.sparkgen.invalid/sparkgen-runtime:1")
    good: dict[str, Any] = {
        "version": "v1.34.1",
        "namespace": NAMESPACE,
        "there": dict.fromkeys(needs.references(asked.objects), True),
        "nodes": (good_node,),
        "now": NOW,
    }
    return ClusterFacts(**{**good, **known})


def found(asked: Wanted, **known: Any) -> list[Finding]:
    """What is found, where something is not well."""
    return judge(asked, facts(asked, **known))
