"""The Kubernetes objects of a shuffle service: Spark's own on every node, and a janitor beside it."""

from __future__ import annotations

from typing import Any

from sparkgen import contract
from sparkgen.model.properties import property_text
from sparkgen.model.shuffle import ShuffleService
from sparkgen.resources import server
from sparkgen.resources.conf import log4j2_text
from sparkgen.resources.layers import DEFAULT_RUNTIME_RESOURCES
from sparkgen.resources.merge import merge
from sparkgen.resources.runtime import runtime_values
from sparkgen.resources.shuffle import SERVICE_PORT, daemon_resources
from sparkgen.resources.text import properties_text

SERVICE_REQUEST = {"cpu": "500m"}


def spark_properties(service: ShuffleService) -> dict[str, str]:
    """The service's properties, sorted by name (ExternalShuffleService.main reads spark-defaults.conf)."""
    fixed = {
        SERVICE_PORT: str(service.port),
        "spark.shuffle.service.enabled": "true",
        # With its database, a restarted service still knows what executors registered.
        "spark.shuffle.service.db.enabled": "true",
        "spark.local.dir": ",".join(service.directories),
        "spark.authenticate": "false" if service.secret_name is None else "true",
    }
    return dict(sorted({**service.properties, **fixed}.items()))


def files(service: ShuffleService) -> dict[str, str]:
    """The files of the service's configuration directory."""
    found = {
        contract.LOG4J2_FILE: log4j2_text(service.log_level, service.loggers),
        contract.SPARK_DEFAULTS_FILE: properties_text(spark_properties(service).items()),
    }
    if service.metrics_properties:
        found[contract.METRICS_FILE] = service.metrics_properties
    return found


def values(service: ShuffleService) -> dict[str, Any]:
    """The values for the objects' layers (object_layers.py)."""
    policy = service.network_policy or {}
    named = [
        (f"{contract.SHUFFLE_VOLUME_PREFIX}{index}", path) for index, path in enumerate(service.directories)
    ]
    janitor = service.janitor
    return {
        **server.values(service, files(service)),
        "peers": policy.get("ingressFrom"),
        "metricsPeers": policy.get("metricsFrom"),
        "maxUnavailable": service.spec.get("maxUnavailable", 1),
        "hostNetwork": True if service.host_network else None,
        "dnsPolicy": "ClusterFirstWithHostNet" if service.host_network else None,
        **runtime_values(service.runtime),
        "runtimeResources": merge(DEFAULT_RUNTIME_RESOURCES, janitor.get("resources") or {}),
        "resources": merge(
            daemon_resources(service.memory, SERVICE_REQUEST), service.spec.get("resources") or {}
        ),
        "port": service.port,
        "secretName": service.secret_name,
        "directories": ",".join(service.directories),
        "directoryVolumes": [
            {"name": name, "hostPath": {"path": path, "type": "DirectoryOrCreate"}} for name, path in named
        ],
        # At the same paths that executors send to the service.
        "directoryMounts": [{"name": name, "mountPath": path} for name, path in named],
        "janitorPort": janitor["port"],
        "janitor": {name: property_text(value) for name, value in janitor.items()},
    }
