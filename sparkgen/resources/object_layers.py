"""Whole objects whose form nothing computes, as data: see fill.py. The chart follows these very layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.resources.layers import (
    RUN_ENV,
    RUNTIME,
    Layer,
    claim_volume,
    config_map_volume,
    field_env,
    picked_from_role,
    read_only,
    token_sources,
)
from sparkgen.resources.security import POD_SECURITY, RESTRICTED, SPARK_UID

PORT_NAME = "history"
"""The history server's port."""
TEMPORARY = "/tmp"  # noqa: S108 - the JVM's own, on a volume: the root file system is read-only

AS_SPARK = {"runAsUser": SPARK_UID, "runAsGroup": SPARK_UID, "runAsNonRoot": True, **RESTRICTED}
AS_ROOT = {
    "runAsUser": 0,
    "runAsGroup": SPARK_UID,
    "runAsNonRoot": False,
    **RESTRICTED,
    "readOnlyRootFilesystem": True,
}
"""For the container that prepares directories of the node: their owner, without any capability."""

JOB_LIMITS = {"activeDeadlineSeconds": 600, "backoffLimit": 3}
"""Of the Job that removes ended runs."""

DAEMON_POD: Layer = {
    "serviceAccountName": "@{account}",
    "automountServiceAccountToken": False,
    "enableServiceLinks": False,
}
"""What the pods of both servers share."""
WHERE: Layer = picked_from_role("nodeSelector", "affinity", "tolerations", "priorityClassName")
"""Where they may run."""

JANITOR_ENV = (
    {"name": contract.ENV_CONTRACT, "value": str(contract.VERSION)},
    {"name": contract.ENV_JANITOR_DIRECTORIES, "value": "@{directories}"},
)


def answers(**numbers: int) -> dict[str, Any]:
    """A probe of the history server: its pages, or only its port where a filter may ask who is there."""
    return {"httpGet": "@{pages}", "tcpSocket": "@{socket}", **numbers}


RBAC = "rbac.authorization.k8s.io"

OBJECT_LAYERS: Mapping[str, Layer] = {
    # No pod gets the account's token unless it asks.
    "service_account": {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": "@{metadata}",
        "automountServiceAccountToken": False,
    },
    "role": {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": "@{metadata}", "rules": "@{rules}"},
    "role_binding": {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": "@{metadata}",
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "@{metadata.name}"},
        "subjects": [{"kind": "ServiceAccount", "name": "@{account}", "namespace": "@{namespace}"}],
    },
    # The Job that removes ended runs. Its pod has no label of the application: whoever looks for that label
    # means the driver's pod.
    "history_job": {
        **JOB_LIMITS,
        "template": {
            "metadata": {
                "labels": {
                    contract.LABEL_NAME: "@{name}",
                    contract.LABEL_COMPONENT: contract.HISTORY,
                    contract.LABEL_MANAGED_BY: "sparkgen",
                    "sidecar.istio.io/inject": "false",
                },
                "annotations": {"linkerd.io/inject": "disabled"},
            },
            "spec": {
                "serviceAccountName": "@{name}-history",
                "automountServiceAccountToken": True,
                "restartPolicy": "Never",
                "enableServiceLinks": False,
                "securityContext": POD_SECURITY,
                **picked_from_role("nodeSelector", "tolerations"),
                "imagePullSecrets": "@{pullSecrets}",
                "containers": [
                    {
                        **RUNTIME,
                        "name": contract.HISTORY,
                        "args": [contract.HISTORY],
                        "env": [
                            *RUN_ENV,
                            {"name": contract.ENV_WORKLOAD, "value": "@{workload}"},
                            {
                                "@if": "succeeded",
                                "name": contract.ENV_KEEP_SUCCEEDED,
                                "value": "@{succeeded}",
                            },
                            {"@if": "failed", "name": contract.ENV_KEEP_FAILED, "value": "@{failed}"},
                            field_env(contract.ENV_POD_NAMESPACE, "metadata.namespace"),
                            field_env(
                                contract.ENV_JOB_NAME, "metadata.labels['batch.kubernetes.io/job-name']"
                            ),
                        ],
                    }
                ],
            },
        },
    },
    # One pod per node, replaced on a few nodes at a time: its port keeps two of them apart.
    "service_daemon_set": {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": "@{metadata}",
        "spec": {
            "selector": {"matchLabels": {contract.LABEL_SHUFFLE_SERVICE: "@{name}"}},
            "updateStrategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "@{maxUnavailable}"},
            },
            "template": {
                "metadata": "@{podMetadata}",
                "spec": {
                    **DAEMON_POD,
                    "securityContext": {"fsGroup": SPARK_UID, "seccompProfile": {"type": "RuntimeDefault"}},
                    "terminationGracePeriodSeconds": 30,
                    **WHERE,
                    "imagePullSecrets": "@{pullSecrets}",
                    "initContainers": [
                        # Makes the directories fit for executors that are not root.
                        {
                            **RUNTIME,
                            "name": contract.PREPARE_CONTAINER,
                            "args": ["janitor", "prepare"],
                            "env": list(JANITOR_ENV),
                            "securityContext": AS_ROOT,
                            "volumeMounts": "@{directoryMounts}",
                        }
                    ],
                    "containers": [
                        {
                            "name": contract.SHUFFLE_CONTAINER,
                            "image": "@{image}",
                            "imagePullPolicy": "@{pullPolicy}",
                            "args": "@{arguments}",
                            "env": [
                                "@{*daemonEnv}",
                                "@{*secretEnv}",
                                {"@if": "hostNetwork", **field_env(contract.ENV_LOCAL_IP, "status.podIP")},
                            ],
                            "ports": [{"name": "shuffle", "containerPort": "@{port}", "hostPort": "@{port}"}],
                            "startupProbe": {
                                "tcpSocket": {"port": "@{port}"},
                                "periodSeconds": 1,
                                "failureThreshold": 120,
                            },
                            "readinessProbe": {"tcpSocket": {"port": "@{port}"}, "periodSeconds": 5},
                            "livenessProbe": {
                                "tcpSocket": {"port": "@{port}"},
                                "periodSeconds": 10,
                                "failureThreshold": 6,
                            },
                            "resources": "@{resources}",
                            "securityContext": AS_SPARK,
                            "volumeMounts": [
                                "@{*directoryMounts}",
                                read_only(contract.CONF_VOLUME, contract.CONF_DIR),
                            ],
                        },
                        # Removes what ended applications left, by the group that it shares with executors.
                        {
                            **RUNTIME,
                            "name": contract.JANITOR_CONTAINER,
                            "args": ["janitor"],
                            "env": [
                                *JANITOR_ENV,
                                {"name": contract.ENV_JANITOR_INTERVAL, "value": "@{interval}"},
                                {"name": contract.ENV_JANITOR_GRACE, "value": "@{grace}"},
                                {"name": contract.ENV_JANITOR_UNKNOWN, "value": "@{withoutAccess}"},
                                {"name": contract.ENV_JANITOR_PRESSURE, "value": "@{pressure}"},
                                {"name": contract.ENV_JANITOR_PORT, "value": "@{janitorPortText}"},
                                {"name": contract.ENV_JANITOR_DRY_RUN, "value": "@{dryRun}"},
                                field_env(contract.ENV_NODE_NAME, "spec.nodeName"),
                            ],
                            "ports": [
                                {"name": contract.JANITOR_CONTAINER, "containerPort": "@{janitorPort}"}
                            ],
                            "livenessProbe": {
                                "httpGet": {"path": contract.HEALTH_PATH, "port": "@{janitorPort}"},
                                "periodSeconds": 10,
                                "failureThreshold": 6,
                            },
                            "securityContext": {**AS_SPARK, "readOnlyRootFilesystem": True},
                            "volumeMounts": [
                                "@{*directoryMounts}",
                                read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
                            ],
                        },
                    ],
                    "volumes": [
                        "@{*directoryVolumes}",
                        config_map_volume(contract.CONF_VOLUME, "@{name}-conf"),
                        {"name": contract.TOKEN_VOLUME, "projected": {"sources": token_sources()}},
                    ],
                    "hostNetwork": "@{hostNetwork}",
                    "dnsPolicy": "@{dnsPolicy}",
                },
            },
        },
    },
    # One pod. With a claim, which two nodes may not have at once, it goes before the next one comes.
    "history_server_deployment": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": "@{metadata}",
        "spec": {
            "replicas": 1,
            "strategy": {"type": "@{strategy}"},
            "selector": {"matchLabels": {contract.LABEL_HISTORY_SERVER: "@{name}"}},
            "template": {
                "metadata": "@{podMetadata}",
                "spec": {
                    **DAEMON_POD,
                    "securityContext": "@{podSecurity}",
                    "imagePullSecrets": "@{pullSecrets}",
                    **WHERE,
                    "containers": [
                        {
                            "name": contract.HISTORY_SERVER_CONTAINER,
                            "image": "@{image}",
                            "imagePullPolicy": "@{pullPolicy}",
                            "args": "@{arguments}",
                            "env": ["@{*daemonEnv}", "@{*secretEnv}", "@{*ownEnv}"],
                            **picked_from_role("envFrom"),
                            "ports": [{"name": PORT_NAME, "containerPort": contract.HISTORY_PORT}],
                            "startupProbe": answers(periodSeconds=2, failureThreshold=90),
                            "readinessProbe": answers(periodSeconds=10, timeoutSeconds=5),
                            "livenessProbe": answers(periodSeconds=20, timeoutSeconds=10, failureThreshold=6),
                            "resources": "@{resources}",
                            "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
                            "volumeMounts": [
                                read_only(contract.CONF_VOLUME, contract.CONF_DIR),
                                {"name": contract.SCRATCH_VOLUME, "mountPath": TEMPORARY},
                                {
                                    "@if": "claim",
                                    "name": contract.EVENT_LOG_VOLUME,
                                    "mountPath": "@{claim.path}",
                                    "readOnly": "@{readOnlyLog}",
                                },
                                "@{*secretMounts}",
                            ],
                        }
                    ],
                    "volumes": [
                        config_map_volume(contract.CONF_VOLUME, "@{name}-conf"),
                        {"name": contract.SCRATCH_VOLUME, "emptyDir": {}},
                        {"@if": "claim", **claim_volume(contract.EVENT_LOG_VOLUME, "@{claim.name}")},
                        "@{*secretVolumes}",
                    ],
                },
            },
        },
    },
}
"""Object, or a part of it, -> its layer."""
