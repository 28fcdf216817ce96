"""The objects of a staging server, and its registries' configurations, as data: see fill.py.

There are two sides, each with its own pods, Service and NetworkPolicy. The side for pods mounts the storage
read-only, and keeps running whatever happens to the other side. A third pod, which nobody can connect to,
collects garbage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.resources.layers import (
    RUNTIME,
    RUNTIME_MOUNT,
    RUNTIME_VOLUME,
    STARTS,
    TOKEN,
    Layer,
    claim_volume,
    config_map_volume,
    read_only,
    secret_env,
    secret_volume,
)
from sparkgen.resources.object_layers import (
    DAEMON_POD,
    PLAIN_ROUTE,
    SERVER_BASIS,
    WHERE,
    exposed,
    head,
    let_in,
    metadata,
    network_policy,
    service_account,
    tcp,
)
from sparkgen.resources.security import RESTRICTED

PORT_NAME = "registry"
PULL, PUSH, GC = "pull", "push", "gc"
HTPASSWD = "htpasswd"

GC_LIMITS = {"activeDeadlineSeconds": 3600, "backoffLimit": 1, "podReplacementPolicy": "Failed"}
"""Limits of the Job that collects garbage: two never run at once, and pushes do not wait for a stuck one."""

REGISTRY: Layer = {
    "image": "@{image}",
    "imagePullPolicy": "@{pullPolicy}",
    "resources": "@{resources}",
    "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
}
"""The fields that all containers of the registry share."""
NO_TRACES = {"name": "OTEL_TRACES_EXPORTER", "value": "none"}
"""Without it, the registry tries forever to send traces to a collector in its own pod."""
CONFIGURATION = f"{contract.CONF_DIR}/"
STORAGE: Layer = {
    "filesystem": {"@if": "claim", "rootdirectory": contract.REGISTRY_DATA_DIR},
    "s3": {
        "@if": "store",
        "bucket": "@{store.bucket}",
        "region": "@{store.region}",
        "regionendpoint": "@{store.endpoint}",
        "rootdirectory": "@{store.folder}",
        "forcepathstyle": "@{store.pathStyle}",
    },
    # So pods need a connection only to the server, not to the object store behind it.
    "redirect": {"disable": True},
}
NOT_PURGED = {"uploadpurging": {"enabled": False}}
LOG = {"level": "info", "formatter": "json", "accesslog": {"disabled": True}}
HTTP: Layer = {
    "addr": f":{contract.REGISTRY_PORT}",
    "draintimeout": "20s",
    "tls": {
        "@if": "tls",
        "certificate": f"{contract.REGISTRY_TLS_DIR}/tls.crt",
        "key": f"{contract.REGISTRY_TLS_DIR}/tls.key",
    },
}
AUTH = {"htpasswd": {"realm": "sparkgen", "path": f"{contract.REGISTRY_USERS_DIR}/{HTPASSWD}"}}


def configuration(storage: Layer, http: Layer = HTTP, **more: Any) -> Layer:
    """A configuration of the registry (distribution's docs/content/about/configuration.md)."""
    return {"version": 0.1, "log": LOG, "storage": {**STORAGE, **storage}, "http": http, **more}


def selects(side: str) -> Layer:
    """The labels of one side's pods."""
    return {contract.LABEL_STAGING_SERVER: "@{name}", contract.LABEL_STAGING_SIDE: side}


S3_ENV = (
    secret_env(contract.ENV_S3_ACCESS_KEY, "store.secretName", "accessKey"),
    secret_env(contract.ENV_S3_SECRET_KEY, "store.secretName", "secretKey"),
)


def answers(**numbers: int) -> Layer:
    """A probe of a path that the registry answers without a login."""
    return {
        "httpGet": {"path": "/", "port": contract.REGISTRY_PORT, "scheme": "@{scheme}"},
        "timeoutSeconds": 5,
        **numbers,
    }


def mounts(*, storage_is_read_only: bool) -> list[Layer]:
    """The mounts of a side."""
    data: Layer = {"@if": "claim", "name": contract.REGISTRY_VOLUME, "mountPath": contract.REGISTRY_DATA_DIR}
    return [
        read_only(contract.CONF_VOLUME, contract.CONF_DIR),
        {**data, **({"readOnly": True} if storage_is_read_only else {})},
        read_only(contract.REGISTRY_USERS_VOLUME, contract.REGISTRY_USERS_DIR),
        read_only(contract.REGISTRY_TLS_VOLUME, contract.REGISTRY_TLS_DIR, "tls"),
    ]


def volumes(side: str) -> list[Layer]:
    """The volumes of a side, with its own passwords only."""
    return [
        config_map_volume(contract.CONF_VOLUME, "@{name}-conf"),
        {"@if": "claim", **claim_volume(contract.REGISTRY_VOLUME, "@{claim}")},
        secret_volume(contract.REGISTRY_USERS_VOLUME, "@{credentials}", side, HTPASSWD),
        {"@if": "tls", "name": contract.REGISTRY_TLS_VOLUME, "secret": {"secretName": "@{tls}"}},
    ]


def deployment(side: str, name: str, container: Layer) -> Layer:
    """The Deployment of a side: its pods are replaced one after the other, and spread over nodes."""
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selects(side)},
    }
    return {
        **head("apps/v1", "Deployment", metadata(name)),
        "spec": {
            "replicas": "@{replicas}",
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}},
            "selector": {"matchLabels": selects(side)},
            "template": {
                "metadata": f"@{{pods.{side}}}",
                "spec": {
                    **DAEMON_POD,
                    "securityContext": "@{podSecurity}",
                    "terminationGracePeriodSeconds": 30,
                    "imagePullSecrets": "@{pullSecrets}",
                    **WHERE,
                    "topologySpreadConstraints": [spread],
                    "containers": [
                        {
                            **REGISTRY,
                            "name": contract.REGISTRY_CONTAINER,
                            "ports": [{"name": PORT_NAME, "containerPort": contract.REGISTRY_PORT}],
                            "readinessProbe": answers(periodSeconds=2),
                            **container,
                        }
                    ],
                    "volumes": volumes(side),
                },
            },
        },
    }


PULL_CONTAINER: Layer = {
    "command": ["registry", "serve", CONFIGURATION + contract.REGISTRY_PULL_FILE],
    "env": [NO_TRACES, *S3_ENV],
    "startupProbe": answers(**STARTS),
    "livenessProbe": answers(periodSeconds=20, failureThreshold=3),
    "volumeMounts": mounts(storage_is_read_only=True),
}
# It stops listening while garbage is collected: a liveness probe would restart it then.
PUSH_CONTAINER: Layer = {
    "command": "@{pushCommand}",
    "env": [
        NO_TRACES,
        secret_env(contract.ENV_REGISTRY_SECRET, "credentials", contract.STAGING_UPLOADS_KEY),
        *S3_ENV,
    ],
    "volumeMounts": mounts(storage_is_read_only=False),
}


def disruption_budget(side: str, name: str) -> Layer:
    """Keeps a drain from taking all pods of a side at once."""
    return {
        **head("policy/v1", "PodDisruptionBudget", metadata(name)),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selects(side)}},
    }


GC_MOUNTS = (
    read_only(contract.CONF_VOLUME, contract.CONF_DIR),
    {"name": contract.REGISTRY_VOLUME, "mountPath": contract.REGISTRY_DATA_DIR},
)
GC_POD: Layer = {
    **DAEMON_POD,
    "serviceAccountName": "@{name}-gc",
    "restartPolicy": "Never",
    "securityContext": "@{podSecurity}",
    "imagePullSecrets": "@{pullSecrets}",
    **WHERE,
    "initContainers": [
        # Holds the lock, and accepts deletions only from this pod; it ends after the other containers.
        {
            **REGISTRY,
            "name": contract.REGISTRY_CONTAINER,
            "restartPolicy": "Always",
            "command": [
                *("sh", CONFIGURATION + contract.REGISTRY_GC_SCRIPT_FILE),
                CONFIGURATION + contract.REGISTRY_GC_FILE,
            ],
            "env": [NO_TRACES],
            "volumeMounts": GC_MOUNTS,
        },
        # Decides what to delete; the only container with a token.
        {
            **RUNTIME,
            "resources": "@{gc.resources}",
            "name": contract.REGISTRY_GC,
            "args": [contract.REGISTRY_GC],
            "env": [
                {"name": contract.ENV_CONTRACT, "value": str(contract.VERSION)},
                {"name": contract.ENV_GC_NAMESPACES, "value": "@{gc.namespaces}"},
                {"name": contract.ENV_GC_GRACE, "value": "@{gc.graceSeconds}"},
                {"name": contract.ENV_GC_DRY_RUN, "value": "@{gc.dryRun}"},
            ],
            "volumeMounts": [
                RUNTIME_MOUNT,
                read_only(contract.REGISTRY_VOLUME, contract.REGISTRY_DATA_DIR),
                read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
            ],
        },
    ],
    "containers": [
        # Frees the space of blobs that nothing refers to any more.
        {
            **REGISTRY,
            "name": contract.SWEEP_CONTAINER,
            "command": "@{gc.sweep}",
            "env": [NO_TRACES],
            "volumeMounts": GC_MOUNTS,
        }
    ],
    "volumes": [
        RUNTIME_VOLUME,
        config_map_volume(contract.CONF_VOLUME, "@{name}-conf"),
        claim_volume(contract.REGISTRY_VOLUME, "@{claim}"),
        TOKEN,
    ],
}

GC_JOB: Layer = {
    "@if": "gc",
    **head("batch/v1", "CronJob", metadata("@{name}-gc")),
    "spec": {
        "schedule": "@{gc.schedule}",
        "suspend": "@{gc.suspend}",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 3600,
        "jobTemplate": {
            "metadata": {"labels": "@{labels}"},
            "spec": {**GC_LIMITS, "template": {"metadata": "@{pods.gc}", "spec": GC_POD}},
        },
    },
}


def side_of(section: str, name: str) -> tuple[Layer, ...]:
    """The Service of a side, and access to it from outside."""
    return exposed(section, name, selects(section), {"name": PORT_NAME}, PLAIN_ROUTE)


STAGING_LAYERS: Mapping[str, Layer] = {
    "registry_pull": configuration({"maintenance": {**NOT_PURGED, "readonly": {"enabled": True}}}, auth=AUTH),
    "registry_push": configuration(
        {"maintenance": {"@if": "readOnly", **NOT_PURGED, "readonly": {"enabled": True}}}, auth=AUTH
    ),
    "registry_gc": configuration(
        {"maintenance": NOT_PURGED, "delete": {"enabled": True}},
        {"addr": f"127.0.0.1:{contract.REGISTRY_PORT}"},
    ),
    "stagingServer": {
        "objects": [
            *SERVER_BASIS,
            {"@if": "gc", **service_account(metadata("@{name}-gc"))},
            network_policy(selects(PULL), let_in("pullPeers", tcp(contract.REGISTRY_PORT))),
            network_policy(
                selects(PUSH), let_in("pushPeers", tcp(contract.REGISTRY_PORT)), name="@{name}-push"
            ),
            {**network_policy(selects(GC), name="@{name}-gc"), "@if": "gcPolicy"},
            disruption_budget(PULL, "@{name}"),
            disruption_budget(PUSH, "@{name}-push"),
            *side_of(PULL, "@{name}"),
            *side_of(PUSH, "@{name}-push"),
            deployment(PULL, "@{name}", PULL_CONTAINER),
            deployment(PUSH, "@{name}-push", PUSH_CONTAINER),
            GC_JOB,
        ]
    },
}
"""Object, or a part of an object -> its layer."""
