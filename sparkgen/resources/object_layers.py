"""The constant parts of whole objects, as data: see fill.py. The chart uses the same layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sparkgen import contract
from sparkgen.model.delivery import ARTIFACT_NAMES
from sparkgen.resources.layers import (
    ALLOCATOR_PORT,
    LIVES,
    RUN_ENV,
    RUNTIME,
    RUNTIME_MOUNT,
    RUNTIME_VOLUME,
    SERVICE_ARGS,
    STARTS,
    TOKEN,
    Layer,
    asks,
    claim_volume,
    config_map_volume,
    connects,
    env_if,
    field_env,
    picked_from_role,
    read_only,
    secret_env,
)
from sparkgen.resources.security import POD_SECURITY, RESTRICTED, SPARK_UID

PORT_NAME = "history"
"""The name of the history server's port."""
TEMPORARY = "/tmp"  # noqa: S108 - the JVM's own, on a volume: the root file system is read-only

AS_SPARK = {"runAsUser": SPARK_UID, "runAsGroup": SPARK_UID, "runAsNonRoot": True, **RESTRICTED}
AS_ROOT = {
    "runAsUser": 0,
    "runAsGroup": SPARK_UID,
    "runAsNonRoot": False,
    **RESTRICTED,
    "readOnlyRootFilesystem": True,
}
"""The security context of the container that prepares directories of the node: their owner, without any
capability."""

HISTORY_ARGS = ["/opt/spark/bin/spark-class", "org.apache.spark.deploy.history.HistoryServer"]
"""The arguments of the history server, which the stock entrypoint runs as they are, in the foreground."""

JOB_LIMITS = {"activeDeadlineSeconds": 600, "backoffLimit": 3}
"""The limits of the Job that removes ended runs."""

DAEMON_POD: Layer = {
    "serviceAccountName": "@{account}",
    "automountServiceAccountToken": False,
    "enableServiceLinks": False,
}
"""The fields that the pods of all servers share."""
WHERE: Layer = picked_from_role("nodeSelector", "affinity", "tolerations", "priorityClassName")
"""Where the pods may run."""

JANITOR_ENV = (
    {"name": contract.ENV_CONTRACT, "value": str(contract.VERSION)},
    {"name": contract.ENV_JANITOR_DIRECTORIES, "value": "@{directories}"},
)


DAEMON_ENV: tuple[Layer, ...] = (
    {"name": contract.ENV_SPARK_CONF_DIR, "value": contract.CONF_DIR},
    {"name": "SPARK_DAEMON_MEMORY", "value": "@{heap}m"},
    env_if("role.javaOptions", "SPARK_DAEMON_JAVA_OPTS"),
)
"""The variables that Spark's launcher of daemons reads (SparkClassCommandBuilder)."""


def answers(**numbers: int) -> dict[str, Any]:
    """A probe of the history server: its pages, or only its port if a filter may require a login."""
    return {
        "httpGet": {"@if": "open", "path": "/", "port": contract.HISTORY_PORT},
        "tcpSocket": {"@if": "guarded", "port": contract.HISTORY_PORT},
        **numbers,
    }


RBAC = "rbac.authorization.k8s.io"
NETWORKING = "networking.k8s.io/v1"
GATEWAY_API = "gateway.networking.k8s.io"
PREFIX_HEADER = "X-Forwarded-Context"
"""The header with the prefix of Spark's links, for each request (UIUtils.uiRoot)."""
UI_PORT_NAME = "spark-ui"

SPARK_RULE: Layer = {
    "@if": "bySpark",
    "apiGroups": [""],
    "resources": ["pods"],
    "verbs": ["create", "delete", "deletecollection", "get", "list", "watch"],
}
"""All permissions of a driver that creates its executors itself, by Spark's own backend: it finds and removes
them by labels. Spark makes no ConfigMap, Service or claim for them (spark_backend.py)."""
ALLOCATOR_RULES: tuple[Layer, ...] = (
    # For creating, watching and removing executors.
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "delete", "get", "list", "watch"]},
    # One RPC secret per attempt. The allocator never reads it: it keeps the value in memory.
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
    # Events for the user, on the driver's pod.
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
)
"""All permissions of the allocator, in one namespace."""
GANG_RULE: Layer = {
    "@if": "makesPodGroups",
    "apiGroups": ["scheduling.k8s.io"],
    "resources": ["podgroups"],
    "verbs": ["create"],
}
"""One more permission of the allocator, if executors are a gang of Kubernetes: a PodGroup for each attempt.
The driver's pod owns the PodGroup, which is deleted with it."""
CONCURRENCY_RULES: tuple[Layer, ...] = (
    # The turn of the application's drivers: one ConfigMap, which is rendered with them.
    {
        "@if": "concurrency",
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [f"@{{name}}{contract.TURN_SUFFIX}"],
        "verbs": ["get", "patch"],
    },
    # For ending the Job of the run that is replaced.
    {"@if": "replaces", "apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "patch"]},
)
"""More permissions of an application whose runs do not overlap."""
JANITOR_RULES: tuple[Layer, ...] = ({"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},)
"""All permissions of the janitor of a shuffle service, in the namespaces of applications."""
REGISTRY_GC_RULES: tuple[Layer, ...] = (
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"]},
    {"apiGroups": ["batch"], "resources": ["cronjobs", "jobs"], "verbs": ["list"]},
)
"""All permissions of a staging server's garbage collection, in the namespaces of applications."""
HISTORY_RULES: tuple[Layer, ...] = (
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["delete", "list"]},
    # Only their metadata is read: no content leaves the API server.
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete", "list"]},
    # Without an annotation, a failed Job that is kept makes the application unhealthy in Argo CD.
    {"@if": "marksJobs", "apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["patch"]},
    {
        "@if": "podGroup",
        "apiGroups": ["scheduling.volcano.sh"],
        "resources": ["podgroups"],
        "verbs": ["delete", "list"],
    },
)
"""All permissions of the Job that removes ended runs, in one namespace."""


def metadata(name: str, labels: str = "labels", annotations: str = "annotations") -> Layer:
    """The metadata of an object; `labels` and `annotations` name the values with these."""
    return {
        "name": name,
        "namespace": "@{namespace}",
        "labels": f"@{{{labels}}}",
        "annotations": f"@{{{annotations}}}",
    }


def head(api_version: str, kind: str, given: Layer) -> Layer:
    """The fields with which an object begins; `given` is its metadata."""
    return {"apiVersion": api_version, "kind": kind, "metadata": given}


def service_account(given: Layer) -> Layer:
    """A service account; a pod gets its token only if it asks for it."""
    return {**head("v1", "ServiceAccount", given), "automountServiceAccountToken": False}


def granted(
    when: str | None, given: Layer, rules: Sequence[Layer], account: str, namespace: str = "@{namespace}"
) -> tuple[Layer, Layer]:
    """A Role, and a RoleBinding that grants it to an account, which may be in another namespace."""
    role = {**head(f"{RBAC}/v1", "Role", given), "rules": rules}
    binding = {
        **head(f"{RBAC}/v1", "RoleBinding", given),
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": given["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }
    condition = {"@if": when} if when else {}
    return {**condition, **role}, {**condition, **binding}


def config_map(given: Layer, data: str, **fields: Any) -> Layer:
    """A ConfigMap with the files of the value named `data`."""
    return {**head("v1", "ConfigMap", given), **fields, "data": f"@{{{data}}}"}


def tcp(*ports: int | str) -> list[Layer]:
    """Ports of a network policy."""
    return [{"protocol": "TCP", "port": port} for port in ports]


def let_in(peers: str, ports: list[Layer]) -> Layer:
    """A rule for the peers of a value; none for an empty list, which Kubernetes would take for everybody."""
    return {"@if": peers, "from": f"@{{{peers}}}", "ports": ports}


def network_policy(selector: Layer, *rules: Layer, name: str = "@{name}") -> Layer:
    """A policy for who may connect to the pods."""
    return {
        "@if": "policy",
        **head(NETWORKING, "NetworkPolicy", metadata(name)),
        "spec": {"podSelector": {"matchLabels": selector}, "policyTypes": ["Ingress"], "ingress": rules},
    }


def exposed(section: str, name: str, selector: Layer, port: Layer, route: Layer) -> tuple[Layer, ...]:
    """A Service, and access to it from outside: an Ingress, and a route of the Gateway API.

    `section` names the value with the document's settings (exposure.py). `port` is the Service's port without
    its number; `route` is the route without the fields that all routes have. The route has the defaults that
    the API server would add, so that GitOps controllers find no difference.
    """

    def at(field: str) -> str:
        return f"@{{{section}.{field}}}"

    service = {
        "@if": section,
        **head("v1", "Service", metadata(name, f"{section}.labels", f"{section}.annotations")),
        "spec": {
            "type": at("type"),
            "selector": selector,
            "ports": [{**port, "port": at("port"), "targetPort": port["name"], "nodePort": at("nodePort")}],
        },
    }
    target = {"service": {"name": name, "port": {"name": port["name"]}}}
    ingress = {
        "@if": f"{section}.ingress",
        **head(NETWORKING, "Ingress", metadata(name, annotations=f"{section}.ingress.annotations")),
        "spec": {
            "rules": [
                {
                    "host": at("ingress.host"),
                    "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": target}]},
                }
            ],
            "ingressClassName": at("ingress.className"),
            "tls": [
                {
                    "@if": f"{section}.ingress.tlsSecretName",
                    "hosts": [at("ingress.host")],
                    "secretName": at("ingress.tlsSecretName"),
                }
            ],
        },
    }
    backend = {"group": "", "kind": "Service", "name": name, "port": at("port"), "weight": 1}
    outside = {
        "@if": f"{section}.route",
        **head(
            f"{GATEWAY_API}/v1", route["kind"], metadata(name, annotations=f"{section}.route.annotations")
        ),
        "spec": {
            "parentRefs": at("route.parentRefs"),
            "rules": [{**route["rule"], "backendRefs": [backend]}],
            "hostnames": [at("route.host")],
        },
    }
    return service, ingress, outside


HTTP_ROUTE: Layer = {
    "kind": "HTTPRoute",
    "rule": {
        "matches": [{"path": {"type": "PathPrefix", "value": "@{ui.route.path}"}}],
        "filters": [
            {
                "@if": "ui.route.below",
                "type": "RequestHeaderModifier",
                "requestHeaderModifier": {"set": [{"name": PREFIX_HEADER, "value": "@{ui.route.path}"}]},
            },
            {
                "@if": "ui.route.below",
                "type": "URLRewrite",
                "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}},
            },
        ],
    },
}
"""The route to Spark's pages, at a host name or below a path."""
PLAIN_ROUTE: Layer = {
    "kind": "HTTPRoute",
    "rule": {"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]},
}
"""The route to all pages at a host name, as of JupyterLab."""
GRPC_ROUTE: Layer = {"kind": "GRPCRoute", "rule": {}}
"""The route to a Connect server, at a host name."""


DRIVER = {contract.LABEL_APPLICATION: "@{name}", contract.LABEL_ROLE: "driver"}
"""The labels of the driver's pod, of whichever run."""

# A driver that runs once: no retry unless requested, and never a second driver beside a lost one.
JOB_SPEC: Layer = {
    "backoffLimit": "@{retries}",
    "podReplacementPolicy": "Failed",
    # A drained or preempted driver is not a failure of the application, and does not count as one.
    "podFailurePolicy": {
        "@if": "retries",
        "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}],
    },
    "activeDeadlineSeconds": "@{deadline}",
    "ttlSecondsAfterFinished": "@{timeToLive}",
    "suspend": "@{suspended}",
    "template": "@{pod}",
}

SERVER_BASIS: tuple[Layer, ...] = (
    {"@if": "createAccount", **service_account(metadata("@{account}", annotations="accountAnnotations"))},
    config_map(metadata("@{name}-conf"), "files"),
)
"""The account and the configuration directory of a server."""

DAEMON_SET: Layer = {
    **head("apps/v1", "DaemonSet", metadata("@{name}")),
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
                    # Makes the directories usable for executors that are not root.
                    {
                        **RUNTIME,
                        "name": contract.PREPARE_CONTAINER,
                        "args": ["janitor", "prepare"],
                        "env": list(JANITOR_ENV),
                        "securityContext": AS_ROOT,
                        "volumeMounts": [RUNTIME_MOUNT, "@{*directoryMounts}"],
                    }
                ],
                "containers": [
                    {
                        "name": contract.SHUFFLE_CONTAINER,
                        "image": "@{image}",
                        "imagePullPolicy": "@{pullPolicy}",
                        "args": SERVICE_ARGS,
                        "env": [
                            *DAEMON_ENV,
                            secret_env(contract.ENV_AUTH_SECRET, "secretName"),
                            {"@if": "hostNetwork", **field_env(contract.ENV_LOCAL_IP, "status.podIP")},
                        ],
                        "ports": [{"name": "shuffle", "containerPort": "@{port}", "hostPort": "@{port}"}],
                        "startupProbe": connects("@{port}", **STARTS),
                        "readinessProbe": connects("@{port}", periodSeconds=5),
                        "livenessProbe": connects("@{port}", **LIVES),
                        "resources": "@{resources}",
                        "securityContext": AS_SPARK,
                        "volumeMounts": [
                            "@{*directoryMounts}",
                            read_only(contract.CONF_VOLUME, contract.CONF_DIR),
                        ],
                    },
                    # Removes files of ended applications, through the group that it shares with executors.
                    {
                        **RUNTIME,
                        "name": contract.JANITOR_CONTAINER,
                        "args": ["janitor"],
                        "env": [
                            *JANITOR_ENV,
                            {"name": contract.ENV_JANITOR_INTERVAL, "value": "@{janitor.intervalSeconds}"},
                            {"name": contract.ENV_JANITOR_GRACE, "value": "@{janitor.graceSeconds}"},
                            {
                                "name": contract.ENV_JANITOR_UNKNOWN,
                                "value": "@{janitor.withoutAccessSeconds}",
                            },
                            {"name": contract.ENV_JANITOR_PRESSURE, "value": "@{janitor.pressurePercent}"},
                            {"name": contract.ENV_JANITOR_PORT, "value": "@{janitor.port}"},
                            {"name": contract.ENV_JANITOR_DRY_RUN, "value": "@{janitor.dryRun}"},
                            field_env(contract.ENV_NODE_NAME, "spec.nodeName"),
                        ],
                        "ports": [{"name": contract.JANITOR_CONTAINER, "containerPort": "@{janitorPort}"}],
                        "livenessProbe": asks(contract.HEALTH_PATH, "@{janitorPort}", **LIVES),
                        "securityContext": {**AS_SPARK, "readOnlyRootFilesystem": True},
                        "volumeMounts": [
                            RUNTIME_MOUNT,
                            "@{*directoryMounts}",
                            read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
                        ],
                    },
                ],
                "volumes": [
                    RUNTIME_VOLUME,
                    "@{*directoryVolumes}",
                    config_map_volume(contract.CONF_VOLUME, "@{name}-conf"),
                    TOKEN,
                ],
                "hostNetwork": "@{hostNetwork}",
                "dnsPolicy": "@{dnsPolicy}",
            },
        },
    },
}
"""One pod per node, replaced on a few nodes at a time: two of them cannot share a node's port."""

HISTORY_DEPLOYMENT: Layer = {
    **head("apps/v1", "Deployment", metadata("@{name}")),
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
                        "args": HISTORY_ARGS,
                        "env": [*DAEMON_ENV, "@{*secretEnv}", "@{*ownEnv}"],
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
}
"""One pod. With a claim, which two nodes may not mount at once, it ends before the next pod starts."""

OBJECT_LAYERS: Mapping[str, Layer] = {
    # --- the workload of the driver ---------------------------------------------------------------------
    "job": {
        **head("batch/v1", "Job", metadata("@{run}", "jobLabels")),
        "spec": JOB_SPEC,
    },
    # One object, whose firings use the newest run's files.
    "cron_job": {
        **head("batch/v1", "CronJob", metadata("@{name}")),
        "spec": {
            "schedule": "@{schedule.schedule}",
            "timeZone": "@{schedule.timeZone}",
            "startingDeadlineSeconds": "@{schedule.startingDeadlineSeconds}",
            "successfulJobsHistoryLimit": "@{schedule.successfulRunHistoryLimit}",
            "failedJobsHistoryLimit": "@{schedule.failedRunHistoryLimit}",
            "concurrencyPolicy": "@{schedule.concurrencyPolicy}",
            "suspend": "@{schedule.suspend}",
            "jobTemplate": {"metadata": {"labels": "@{jobLabels}"}, "spec": JOB_SPEC},
        },
    },
    # For an application that never ends. Its name is constant, so that a change replaces the driver.
    "deployment": {
        **head("apps/v1", "Deployment", metadata("@{name}", "deploymentLabels")),
        "spec": {
            "replicas": "@{replicas}",
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": DRIVER},
            "template": "@{pod}",
        },
    },
    # The Job that removes ended runs. Its pod has no label of the application, because that label selects the
    # driver's pod.
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
                            env_if("succeeded", contract.ENV_KEEP_SUCCEEDED),
                            env_if("failed", contract.ENV_KEEP_FAILED),
                            env_if("batch.volcano", contract.ENV_POD_GROUPS, "true"),
                            field_env(contract.ENV_POD_NAMESPACE, "metadata.namespace"),
                            field_env(
                                contract.ENV_JOB_NAME, "metadata.labels['batch.kubernetes.io/job-name']"
                            ),
                        ],
                        "volumeMounts": [RUNTIME_MOUNT],
                    }
                ],
                "volumes": [RUNTIME_VOLUME],
            },
        },
    },
    # --- all objects of a document, in the order in which they are applied --------------------------------
    "application": {
        "objects": [
            {
                "@if": "createAccount",
                **service_account(metadata("@{account}", annotations="accountAnnotations")),
            },
            *granted(
                "rbac",
                metadata("@{name}"),
                (
                    *({"@if": "byAllocator", **rule} for rule in ALLOCATOR_RULES),
                    *(GANG_RULE, *CONCURRENCY_RULES, SPARK_RULE),
                ),
                "@{account}",
            ),
            # The service's account, in whichever namespace it is, may list the drivers: the janitor removes
            # the shuffle data of applications without a driver.
            *granted(
                "janitor",
                metadata("@{name}-shuffle-janitor"),
                JANITOR_RULES,
                "@{shuffle.name}",
                "@{shuffle.namespace}",
            ),
            # The staging server's account may list the artifacts that are in use here: it removes all others.
            *granted(
                "registryGc",
                metadata("@{name}-staging-gc"),
                REGISTRY_GC_RULES,
                "@{staging.name}-gc",
                "@{staging.namespace}",
            ),
            # The files of one run: immutable, so that nothing changes for a running driver.
            config_map(metadata("@{run}-conf", "runLabels"), "files.conf", immutable=True),
            {
                "@if": "files.hadoop",
                **config_map(metadata("@{run}-hadoop", "runLabels"), "files.hadoop", immutable=True),
            },
            config_map(metadata("@{run}-executor", "runLabels"), "files.executor", immutable=True),
            # The document's own files, if no registry has them.
            *(
                {
                    "@if": f"mounted.{name}",
                    **config_map(
                        metadata(f"@{{run}}-{name}", "runLabels"),
                        f"mounted.{name}.data",
                        immutable=True,
                        binaryData=f"@{{mounted.{name}.binaryData}}",
                    ),
                }
                for name in ARTIFACT_NAMES
            ),
            # Without data: only the cluster has the annotations that say whose turn it is.
            {
                "@if": "concurrency",
                **head("v1", "ConfigMap", metadata(f"@{{name}}{contract.TURN_SUFFIX}")),
            },
            # These may change while the application runs.
            {"@if": "byAllocator", **config_map(metadata("@{name}-tuning"), "tuning")},
            # Volcano's group of the run: room for the driver and its initial executors.
            {
                "@if": "podGroup",
                **head(contract.POD_GROUPS_OF_VOLCANO, "PodGroup", metadata("@{run}", "runLabels")),
                "spec": {
                    "minMember": 1,
                    "queue": "@{podGroup.queue}",
                    "priorityClassName": "@{podGroup.priority}",
                    "minResources": "@{podGroup.resources}",
                },
            },
            # The application's own pods may connect to all ports, the named peers to those for people.
            network_policy(
                {contract.LABEL_APPLICATION: "@{name}"},
                {"from": [{"podSelector": {"matchLabels": {contract.LABEL_APPLICATION: "@{name}"}}}]},
                let_in(
                    "peers",
                    [
                        {"@if": "ui", "protocol": "TCP", "port": contract.UI_PORT},
                        *({"@if": "byAllocator", **port} for port in tcp(ALLOCATOR_PORT)),
                        {"@if": "connectShared", "protocol": "TCP", "port": contract.CONNECT_PORT},
                        {"@if": "notebook", "protocol": "TCP", "port": contract.NOTEBOOK_PORT},
                    ],
                ),
                let_in("connectPeers", tcp(contract.CONNECT_PORT)),
                # Traffic through a node's port may have the node's address.
                {"@if": "hostPorts", "ports": "@{hostPorts}"},
            ),
            # Keeps a drain from evicting the driver.
            {
                "@if": "budget",
                **head("policy/v1", "PodDisruptionBudget", metadata("@{name}-driver")),
                "spec": {
                    "minAvailable": "@{budget.minAvailable}",
                    "maxUnavailable": "@{budget.maxUnavailable}",
                    "unhealthyPodEvictionPolicy": "@{budget.unhealthyPodEvictionPolicy}",
                    # By the component: pods of sessions have the role of a driver, but are not drivers.
                    "selector": {
                        "matchLabels": {
                            contract.LABEL_APPLICATION: "@{name}",
                            contract.LABEL_COMPONENT: "driver",
                        }
                    },
                },
            },
            # The Spark UI of the current run's driver, and of no other.
            *exposed(
                "ui",
                "@{name}-ui",
                {contract.LABEL_RUN: "@{run}", contract.LABEL_ROLE: "driver"},
                {"name": UI_PORT_NAME},
                HTTP_ROUTE,
            ),
            # A Connect server for clients, of whichever run.
            *exposed(
                "connect",
                "@{name}-connect",
                DRIVER,
                {"name": contract.CONNECT_PORT_NAME, "appProtocol": "grpc"},
                GRPC_ROUTE,
            ),
            # JupyterLab, for people.
            *exposed(
                "notebook", "@{name}-notebook", DRIVER, {"name": contract.NOTEBOOK_PORT_NAME}, PLAIN_ROUTE
            ),
            "@{workload}",
            # The Job that removes ended runs has its own account and permissions.
            {"@if": "history", **service_account(metadata("@{name}-history", "historyLabels"))},
            *granted(
                "history", metadata("@{name}-history", "historyLabels"), HISTORY_RULES, "@{name}-history"
            ),
            {
                "@if": "history",
                **head("batch/v1", "Job", metadata("@{history.job}", "historyLabels")),
                "spec": "@{history.spec}",
            },
        ]
    },
    "service": {
        "objects": [
            *SERVER_BASIS,
            # The service's port, and the janitor's metrics; nothing else.
            network_policy(
                {contract.LABEL_SHUFFLE_SERVICE: "@{name}"},
                {"from": "@{peers}", "ports": tcp("@{port}")},
                let_in("metricsPeers", tcp("@{janitorPort}")),
            ),
            DAEMON_SET,
        ]
    },
    "historyServer": {
        "objects": [
            *SERVER_BASIS,
            network_policy(
                {contract.LABEL_HISTORY_SERVER: "@{name}"},
                let_in("peers", tcp(contract.HISTORY_PORT)),
            ),
            *exposed(
                "ui",
                "@{name}",
                {contract.LABEL_HISTORY_SERVER: "@{name}"},
                {"name": PORT_NAME},
                HTTP_ROUTE,
            ),
            HISTORY_DEPLOYMENT,
        ]
    },
}
"""Object, or a part of an object -> its layer."""
