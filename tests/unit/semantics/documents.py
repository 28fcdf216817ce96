"""Small documents for tests of rules: a fragment of YAML laid over a valid document."""

from __future__ import annotations

import copy
from typing import Any

import yaml

from sparkgen.semantics.findings import Finding
from sparkgen.semantics.registry import findings_of

BASE: dict[str, Any] = {
    "apiVersion": "sparkgen.dev/v1alpha1",
    "kind": "SparkApplication",
    "metadata": {"name": "report"},
    "spec": {
        "type": "Python",
        "sparkVersion": "3.5.8",
        "image": "registry.example.com/team/report:1.7.0",
        "mainApplicationFile": "local:///opt/app/report.py",
    },
}

SERVICE: dict[str, Any] = {
    "apiVersion": "sparkgen.dev/v1alpha1",
    "kind": "SparkShuffleService",
    "metadata": {"name": "shuffle-35"},
    "spec": {"sparkVersion": "3.5.8", "image": "registry.example.com/team/spark:3.5.8"},
}

HISTORY: dict[str, Any] = {
    "apiVersion": "sparkgen.dev/v1alpha1",
    "kind": "SparkHistoryServer",
    "metadata": {"name": "spark-history"},
    "spec": {
        "sparkVersion": "3.5.8",
        "image": "registry.example.com/team/spark:3.5.8",
        "eventLog": {"dir": "s3a://logs/spark"},
    },
}


STAGING: dict[str, Any] = {
    "apiVersion": "sparkgen.dev/v1alpha1",
    "kind": "SparkStagingServer",
    "metadata": {"name": "spark-staging"},
    "spec": {"credentials": {"secretName": "spark-staging"}},
}


CONNECT: dict[str, Any] = {
    "apiVersion": "sparkgen.dev/v1alpha1",
    "kind": "SparkConnectServer",
    "metadata": {"name": "team-a"},
    "spec": {
        "sparkVersion": "4.0.1",
        "image": "registry.example.com/team/spark:4.0.1",
        "dynamicAllocation": {"maxExecutors": 10},
    },
}


NOTEBOOK: dict[str, Any] = {
    "apiVersion": "sparkgen.dev/v1alpha1",
    "kind": "SparkNotebook",
    "metadata": {"name": "ada"},
    "spec": {
        "sparkVersion": "4.0.1",
        "image": "registry.example.com/team/spark-notebook:4.0.1",
        "notebook": {"token": {"name": "ada-notebook", "key": "token"}},
        "dynamicAllocation": {"maxExecutors": 10},
    },
}


def merged(base: Any, over: Any) -> Any:
    """An overlay as in Helm: mappings are merged, everything else is replaced."""
    if isinstance(base, dict) and isinstance(over, dict):
        return {**base, **{key: merged(base.get(key), value) for key, value in over.items()}}
    return over


def whole(fragment: str) -> dict[str, Any]:
    """A fragment laid over the base document of its kind."""
    over = yaml.safe_load(fragment)
    if over.get("kind") == "SparkShuffleService":
        return service(over.get("spec") or {}, **over.get("metadata") or {})
    if over.get("kind") == "SparkHistoryServer":
        return history_server(over.get("spec") or {})
    others = {"SparkConnectServer": CONNECT, "SparkNotebook": NOTEBOOK, "SparkStagingServer": STAGING}
    if completed := others.get(over.get("kind", "")):
        server: dict[str, Any] = merged(copy.deepcopy(completed), over)
        return server
    is_scheduled = over.get("kind") == "ScheduledSparkApplication"
    document: dict[str, Any] = merged(scheduled({}) if is_scheduled else copy.deepcopy(BASE), over)
    return document


def application(spec: dict[str, Any]) -> dict[str, Any]:
    """A document with these fields in its spec."""
    document: dict[str, Any] = merged(copy.deepcopy(BASE), {"spec": spec})
    return document


def service(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A shuffle service with these fields in its spec."""
    over: dict[str, Any] = {"spec": spec, "metadata": metadata}
    document: dict[str, Any] = merged(copy.deepcopy(SERVICE), over)
    return document


def history_server(spec: dict[str, Any]) -> dict[str, Any]:
    """A history server with these fields in its spec."""
    document: dict[str, Any] = merged(copy.deepcopy(HISTORY), {"spec": spec})
    return document


def scheduled(spec: dict[str, Any]) -> dict[str, Any]:
    """A scheduled document with these fields in its spec."""
    base = {"schedule": "30 3 * * *", "template": copy.deepcopy(BASE["spec"])}
    return {**BASE, "kind": "ScheduledSparkApplication", "spec": merged(base, spec)}


def found(value: dict[str, Any], code: str) -> list[Finding]:
    """What one rule finds."""
    return [finding for rule, finding in findings_of(value) if rule.code == code]


def codes(value: dict[str, Any]) -> set[str]:
    """The codes of all that is found."""
    return {rule.code for rule, _ in findings_of(value)}
