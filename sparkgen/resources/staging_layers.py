"""The objects of a staging server, and its registries' configurations, as data: see fill.py.

Two sides, each with Pods, a Service and a NetworkPolicy of its own. The one for pods has the storage for
reading only, and goes on whatever happens to the other. What collects garbage is a third pod, which nobody
can reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.resources.layers import (
    RUNTIME,
    Layer,
    claim_volume,
    config_map_volume,
    read_only,
    token_sources,
)
from sparkgen.resources.object_layers import (
    DAEMON_POD,
    NETWORKING,
    SERVER_BASIS,
    WHERE,
    exposed,
    metadata,
    service_account,
    tcp,
)
from sparkgen.resources.security import RESTRICTED

PORT_NAME = "registry"
PULL, PUSH, GC = "pull", "push", "gc"
HTPASSWD = "htpasswd"

GC_LIMITS = {"activeDeadlineSeconds": 3600, "backoffLimit": 1, "podReplacementPolicy": "Failed"}
"""Of the Job that collects garbage: two never run at once, and pushes do not wait for one that hangs."""

REGISTRY: Layer = {
    "image": "@{image}",
    "imagePullPolicy": "@{pullPolicy}",
    "resources": "@{resources}",
    "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
}
"""What all containers of the registry share."""
NO_TRACES = {"name": "OTEL_TRACES_EXPORTER", "value": "none"}
"""Without it the registry looks for a collector of traces on its own pod, forever."""
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
    # Pods need to reach the server only, not the object store behind it.
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


def key_env(name: str, secret: str, key: str) -> Layer:
    """A variable with a key of a Secret that a value names; left out without it."""
    return {
        "@if": secret,
        "name": name,
        "valueFrom": {"secretKeyRef": {"name": f"@{{{secret}}}", "key": key}},
    }


S3_ENV = (
    key_env(contract.ENV_S3_ACCESS_KEY, "store.secretName", "accessKey"),
    key_env(contract.ENV_S3_SECRET_KEY, "store.secretName", "secretKey"),
)


def answers(**numbers: int) -> Layer:
    """A probe: the registry answers this path to everybody."""
    return {
        "httpGet": {"path": "/", "port": contract.REGISTRY_PORT, "scheme": "@{scheme}"},
        "timeoutSeconds": 5,
        **numbers,
    }


def mounts(*, storage_is_read_only: bool) -> list[Layer]:
    """What a side mounts."""
    data: Layer = {"@if": "claim", "name": contract.REGISTRY_VOLUME, "mountPath": contract.REGISTRY_DATA_DIR}
    return [
        read_only(contract.CONF_VOLUME, contract.CONF_DIR),
        {**data, **({"readOnly": True} if storage_is_read_only else {})},
        read_only(contract.REGISTRY_USERS_VOLUME, contract.REGISTRY_USERS_DIR),
        {"@if": "tls", **read_only(contract.REGISTRY_TLS_VOLUME, contract.REGISTRY_TLS_DIR)},
    ]


def volumes(side: str) -> list[Layer]:
    """The volumes of a side: its own passwords, and not those of the other."""
    users = {"secretName": "@{credentials}", "items": [{"key": side, "path": HTPASSWD}]}
    return [
        config_map_volume(contract.CONF_VOLUME, "@{name}-conf"),
        {"@if": "claim", **claim_volume(contract.REGISTRY_VOLUME, "@{claim}")},
        {"name": contract.REGISTRY_USERS_VOLUME, "secret": users},
        {"@if": "tls", "name": contract.REGISTRY_TLS_VOLUME, "secret": {"secretName": "@{tls}"}},
    ]


def deployment(side: str, name: str, container: Layer) -> Layer:
    """The pods of a side, replaced one after the other, on as many nodes as there are."""
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selects(side)},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(name),
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
    "startupProbe": answers(periodSeconds=1, failureThreshold=120),
    "livenessProbe": answers(periodSeconds=20, failureThreshold=3),
    "volumeMounts": mounts(storage_is_read_only=True),
}
# It stops to listen while garbage is collected: a probe of its life would end it then.
PUSH_CONTAINER: Layer = {
    "command": "@{pushCommand}",
    "env": [
        NO_TRACES,
        key_env(contract.ENV_REGISTRY_SECRET, "credentials", contract.STAGING_UPLOADS_KEY),
        *S3_ENV,
    ],
    "volumeMounts": mounts(storage_is_read_only=False),
}


def disruption_budget(side: str, name: str) -> Layer:
    """Keeps a drain from taking all pods of a side at once."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(name),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selects(side)}},
    }


def network_policy(side: str, name: str, *rules: Layer) -> Layer:
    """Who may connect to a side."""
    return {
        "@if": "policy",
        "apiVersion": NETWORKING,
        "kind": "NetworkPolicy",
        "metadata": metadata(name),
        "spec": {
            "podSelector": {"matchLabels": selects(side)},
            "policyTypes": ["Ingress"],
            "ingress": list(rules),
        },
    }


def route(side: str) -> Layer:
    """The whole of a host name leads to a side."""
    return {"kind": "HTTPRoute", "rule": {"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}}


GC_POD: Layer = {
    **DAEMON_POD,
    "serviceAccountName": "@{name}-gc",
    "restartPolicy": "Never",
    "securityContext": "@{podSecurity}",
    "imagePullSecrets": "@{pullSecrets}",
    **WHERE,
    "initContainers": [
        # Holds the lock, and takes deletions from this pod alone; it ends after all others.
        {
            **REGISTRY,
            "name": contract.REGISTRY_CONTAINER,
            "restartPolicy": "Always",
            "command": [
                *("sh", CONFIGURATION + contract.REGISTRY_GC_SCRIPT_FILE),
                CONFIGURATION + contract.REGISTRY_GC_FILE,
            ],
            "env": [NO_TRACES],
            "volumeMounts": [
                read_only(contract.CONF_VOLUME, contract.CONF_DIR),
                {"name": contract.REGISTRY_VOLUME, "mountPath": contract.REGISTRY_DATA_DIR},
            ],
        },
        # Decides, and is the only one that has a token.
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
                read_only(contract.REGISTRY_VOLUME, contract.REGISTRY_DATA_DIR),
                read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
            ],
        },
    ],
    "containers": [
        # Gives the room back of what nothing refers to any more.
        {
            **REGISTRY,
            "name": contract.SWEEP_CONTAINER,
            "command": "@{gc.sweep}",
            "env": [NO_TRACES],
            "volumeMounts": [
                read_only(contract.CONF_VOLUME, contract.CONF_DIR),
                {"name": contract.REGISTRY_VOLUME, "mountPath": contract.REGISTRY_DATA_DIR},
            ],
        }
    ],
    "volumes": [
        config_map_volume(contract.CONF_VOLUME, "@{name}-conf"),
        claim_volume(contract.REGISTRY_VOLUME, "@{claim}"),
        {"name": contract.TOKEN_VOLUME, "projected": {"sources": token_sources()}},
    ],
}

GC_JOB: Layer = {
    "@if": "gc",
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": metadata("@{name}-gc"),
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
    """The Service of a side, and what leads there from outside."""
    return exposed(section, name, selects(section), {"name": PORT_NAME}, route(section))


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
            network_policy(PULL, "@{name}", {"from": "@{pullPeers}", "ports": tcp(contract.REGISTRY_PORT)}),
            network_policy(
                PUSH, "@{name}-push", {"from": "@{pushPeers}", "ports": tcp(contract.REGISTRY_PORT)}
            ),
            {**network_policy(GC, "@{name}-gc"), "@if": "gcPolicy"},
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
"""Object, or a part of it, -> its layer."""
