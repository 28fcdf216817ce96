"""The constant parts of pods, as data: see fill.py. The chart uses the same layers.

A field of a role's section that is passed on unchanged needs a line here, and no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.delivery import ARTIFACT_NAMES
from sparkgen.resources.security import POD_SECURITY, RESTRICTED

Layer = dict[str, Any]

DEFAULT_RUNTIME_RESOURCES = {
    "requests": {"cpu": "100m", "memory": "64Mi"},
    "limits": {"cpu": "1", "memory": "256Mi"},
}
"""For `install`, `fetch` and `allocator`: requests and limits are both set, so that a namespace with a quota
accepts the pod. Hundreds of creations a second, and a quick start, need a whole core for a moment."""

TOKEN_SECONDS = 3600

JAR_FILE = contract.SCHEDULER_JAR.removeprefix(f"{contract.LIB_DIR}/")

DOCKER_CONFIG_KEY = ".dockerconfigjson"
"""The key of a Secret of the type kubernetes.io/dockerconfigjson."""


def field_env(name: str, path: str) -> dict[str, Any]:
    """An environment variable with the value of a field of the pod (the downward API)."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def env_if(value: str, name: str, text: str = "") -> Layer:
    """An environment variable with a value, or with a text if the value is true; left out otherwise."""
    return {"@if": value, "name": name, "value": text or f"@{{{value}}}"}


def secret_env(name: str, secret: str, key: str = contract.SECRET_KEY) -> Layer:
    """An environment variable with a key of a Secret, by default a shuffle service's.

    It is left out if the value `secret` does not name one.
    """
    source = {"name": f"@{{{secret}}}", "key": key}
    return {"@if": secret, "name": name, "valueFrom": {"secretKeyRef": source}}


def read_only(name: str, path: str, when: str = "") -> dict[str, Any]:
    """A read-only mount, if the value `when` is true."""
    return {**({"@if": when} if when else {}), "name": name, "mountPath": path, "readOnly": True}


def secret_volume(name: str, secret: str, key: str, file: str) -> dict[str, Any]:
    """A volume with one key of a Secret as a file."""
    return {"name": name, "secret": {"secretName": secret, "items": [{"key": key, "path": file}]}}


def config_map_volume(name: str, config_map: str) -> dict[str, Any]:
    """A volume with all files of a ConfigMap."""
    return {"name": name, "configMap": {"name": config_map}}


def runtime_volume(name: str, key: str, file: str, when: str = "runtimeConfigMap") -> dict[str, Any]:
    """A volume with one key of the ConfigMap with the runtime as a file, if the value `when` is true."""
    items = [{"key": key, "path": file}]
    return {
        "@if": when,
        "name": name,
        "configMap": {"name": "@{runtimeConfigMap}", "items": items},
    }


def claim_volume(name: str, claim: str) -> dict[str, Any]:
    """A volume of an existing claim."""
    return {"name": name, "persistentVolumeClaim": {"claimName": claim}}


_NAMESPACE = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
TOKEN: Layer = {
    "name": contract.TOKEN_VOLUME,
    "projected": {
        "sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": TOKEN_SECONDS}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [_NAMESPACE]}},
        ]
    },
}
"""The volume that the API server would add itself, for a single container to mount."""
STARTS = {"periodSeconds": 1, "failureThreshold": 120}
"""How often, and for how long, a container that is ready soon is asked whether it has started."""
LIVES = {"periodSeconds": 10, "failureThreshold": 6}


def asks(path: str, port: int | str, **numbers: int) -> dict[str, Any]:
    """A probe of a page."""
    return {"httpGet": {"path": path, "port": port}, **numbers}


def connects(port: int | str, **numbers: int) -> dict[str, Any]:
    """A probe that only connects."""
    return {"tcpSocket": {"port": port}, **numbers}


def picked_from_role(*fields: str) -> Layer:
    """Fields of a role's section, as the document has them."""
    return {field: f"@{{role.{field}}}" for field in fields}


def _main(**fields: Any) -> Layer:
    """A layer that changes only the Spark container."""
    return {"containers": [{"name": "@{mainContainer}", **fields}]}


def _own_logs(folder: str) -> Layer:
    """The mount of a container's own folder of the volume whose files are archived."""
    return {
        "@if": "archive",
        "name": contract.LOGS_VOLUME,
        "mountPath": contract.LOGS_DIR,
        "subPath": folder,
    }


def _rclone_env() -> tuple[Layer, ...]:
    """The variables that describe the object store `archive` to rclone; none if the archive is a claim.

    Source: rclone's documentation of its environment variables (RCLONE_CONFIG_<REMOTE>_<OPTION>).
    """
    prefix = "RCLONE_CONFIG_ARCHIVE_"
    login = f"{contract.LOG_ARCHIVE_LOGIN_DIR}/{contract.LOG_ARCHIVE_LOGIN_FILE}"
    return (
        env_if("archive.store", f"{prefix}TYPE", "s3"),
        {"@if": "archive.store", "name": f"{prefix}PROVIDER", "value": "@{archive.provider}"},
        env_if("archive.store", f"{prefix}ENV_AUTH", "true"),
        env_if("archive.store", f"{prefix}NO_CHECK_BUCKET", "true"),
        env_if("archive.endpoint", f"{prefix}ENDPOINT"),
        env_if("archive.region", f"{prefix}REGION"),
        env_if("archive.secret", "AWS_SHARED_CREDENTIALS_FILE", login),
    )


SERVICE_ARGS = ["/opt/spark/bin/spark-class", "org.apache.spark.deploy.ExternalShuffleService"]
"""The arguments of a shuffle service, which the stock entrypoint runs as they are."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

RUNTIME: Layer = {
    "image": "@{runtimeImage}",
    "command": "@{runtimeCommand}",
    "imagePullPolicy": "@{pullPolicy}",
    "resources": "@{runtimeResources}",
    "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
}
"""The fields that `install`, `fetch` and `allocator` share."""
RUNTIME_MOUNT = read_only(contract.RUNTIME_VOLUME, contract.RUNTIME_DIR, "runtimeConfigMap")
RUNTIME_VOLUME = runtime_volume(
    contract.RUNTIME_VOLUME, contract.RUNTIME_PROGRAM_FILE, contract.RUNTIME_PROGRAM_FILE
)
"""For every pod with such a container: its program, if that is in a ConfigMap."""

CONTRACT_ENV = {"name": contract.ENV_CONTRACT, "value": str(contract.VERSION)}
RUN_ENV = (
    CONTRACT_ENV,
    {"name": contract.ENV_APPLICATION, "value": "@{name}"},
    {"name": contract.ENV_RUN, "value": "@{run}"},
)

OWN_LABELS = {
    contract.LABEL_NAME: "@{name}",
    contract.LABEL_COMPONENT: "@{roleName}",
    contract.LABEL_MANAGED_BY: "sparkgen",
    contract.LABEL_APPLICATION: "@{name}",
    contract.LABEL_ROLE: "@{roleName}",
    contract.LABEL_RUN: "@{run}",
}

CONF_FILES_VOLUME: Layer = {
    "@if": "confSources",
    "name": contract.CONF_FILES_VOLUME,
    "projected": {"sources": [{"configMap": {"name": "@{run}-conf"}}, "@{*confSources}"]},
}
"""Spark's configuration folder with the keys that a document names: only for Spark's containers.
The allocator mounts the run's ConfigMap instead: it has a token, and does not need others' files."""

MOUNTED_VOLUMES = tuple(
    {
        "@if": f"mounted.{name}",
        "name": f"{contract.ARTIFACT_VOLUME_PREFIX}{name}",
        "configMap": {"name": f"@{{run}}-{name}", "items": f"@{{mounted.{name}.items}}"},
    }
    for name in ARTIFACT_NAMES
)
"""The run's ConfigMaps with files of the document, each at its path in the artifact."""

HADOOP_ENV = {"@if": "hadoop", "name": contract.ENV_HADOOP_CONF_DIR, "value": contract.HADOOP_DIR}
HADOOP_MOUNT = read_only(contract.HADOOP_VOLUME, contract.HADOOP_DIR, "hadoop")
HADOOP_VOLUMES = (
    {"@if": "ownHadoop", **config_map_volume(contract.HADOOP_VOLUME, "@{run}-hadoop")},
    {"@if": "hadoopConfigMap", **config_map_volume(contract.HADOOP_VOLUME, "@{hadoopConfigMap}")},
)

ALLOCATOR_PORT = contract.ALLOCATOR_PORT

NOTEBOOK_TOKEN_FILE = "token"  # noqa: S105 - a file's name


def asks_jupyter(**numbers: int) -> dict[str, Any]:
    """A probe of JupyterLab, which answers it without a token."""
    return asks(contract.NOTEBOOK_PATH, contract.NOTEBOOK_PORT, timeoutSeconds=5, **numbers)


def asks_connect(**numbers: int) -> dict[str, Any]:
    """A probe of the Connect server through the allocator: Kubernetes' own probes cannot check its gRPC."""
    return {"@if": "connect", **asks(contract.CONNECT_PATH, ALLOCATOR_PORT, timeoutSeconds=5, **numbers)}


LAYERS: Mapping[str, Layer] = {
    # --- both roles -----------------------------------------------------------------------------------
    # The settings of the batch scheduler for every pod, unless the document says otherwise.
    "batch_scheduler": {
        "@if": "batch",
        "spec": {"schedulerName": "@{batch.schedulerName}", "priorityClassName": "@{batch.priority}"},
    },
    "default_security": {"spec": {"securityContext": POD_SECURITY}},
    # No sidecar of a service mesh: it would outlive a finished driver.
    "default_neighbours": {
        "metadata": {
            "labels": {"sidecar.istio.io/inject": "false"},
            "annotations": {"linkerd.io/inject": "disabled"},
        },
        "spec": {"enableServiceLinks": False},
    },
    # Labels that select Spark's own pods, in affinities for example; a document may override them.
    "spark_labels": {
        "metadata": {
            "labels": {
                contract.LABEL_APP_NAME: "@{appNameLabel}",
                contract.LABEL_SPARK_VERSION: "@{sparkVersion}",
            }
        }
    },
    # The document's own pod template.
    "template": {"metadata": "@{template.metadata}", "spec": "@{template.spec}"},
    # `spark.executorEnv.NAME`: as in Spark, it overrides the template; typed fields override it.
    "executor_env": {"@if": "executorEnv", "spec": _main(env="@{executorEnv}")},
    "metadata": {"metadata": {"labels": "@{podLabels}", "annotations": "@{podAnnotations}"}},
    "image": {
        "spec": {
            **_main(image="@{image}", imagePullPolicy="@{rolePullPolicy}"),
            "imagePullSecrets": "@{pullSecrets}",
        }
    },
    # A CPU limit only if requested.
    "resources": {
        "spec": _main(
            resources={
                "requests": {"cpu": "@{coreRequest}", "memory": "@{memory}Mi"},
                "limits": "@{limits}",
            }
        )
    },
    "scheduling": {
        "spec": picked_from_role(
            "nodeSelector",
            "affinity",
            "tolerations",
            "topologySpreadConstraints",
            "priorityClassName",
            "schedulerName",
        )
    },
    "pod_settings": {
        "spec": {
            **picked_from_role("hostAliases", "dnsConfig", "terminationGracePeriodSeconds"),
            "securityContext": "@{role.podSecurityContext}",
        }
    },
    "container_settings": {
        "spec": _main(
            **picked_from_role("env", "envFrom", "volumeMounts", "ports", "securityContext", "lifecycle")
        )
    },
    # Existing Secrets and ConfigMaps of the namespace, mounted where the document says.
    "mounted_objects": {
        "spec": {
            **_main(env="@{objectEnv}", volumeMounts="@{objectMounts}"),
            "volumes": "@{objectVolumes}",
        }
    },
    # Only those volumes of the document that a container of this role mounts.
    "volumes": {"spec": {"volumes": "@{usedVolumes}"}},
    # Spark's scratch space: the document's volumes for it, or otherwise an emptyDir (LocalDirsFeatureStep).
    "scratch": {
        "@if": "localDirs",
        "spec": {
            **_main(
                env=[{"name": contract.ENV_LOCAL_DIRS, "value": "@{localDirs}"}],
                volumeMounts=[
                    {
                        "@if": "ownScratch",
                        "name": "@{scratchVolume}",
                        "mountPath": contract.SCRATCH_DIR,
                    }
                ],
            ),
            "volumes": [
                {
                    "@if": "ownScratch",
                    "name": "@{scratchVolume}",
                    "emptyDir": {"medium": "@{scratchMedium}"},
                }
            ],
        },
    },
    # Mounts one file, not the folder, because /etc has more files. All programs look for it there by default.
    "krb5": {
        "@if": "kerberosConfigMap",
        "spec": {
            **_main(
                volumeMounts=[
                    {**read_only(contract.KRB5_VOLUME, contract.KRB5_PATH), "subPath": contract.KRB5_FILE}
                ]
            ),
            "volumes": [config_map_volume(contract.KRB5_VOLUME, "@{kerberosConfigMap}")],
        },
    },
    # Downloads pushed files: the only container with the registry's credentials and the cache.
    "fetch_container": {
        "@if": "fetch",
        "spec": {
            "initContainers": [
                {
                    **RUNTIME,
                    "name": contract.FETCH_CONTAINER,
                    "args": ["fetch"],
                    "env": [
                        CONTRACT_ENV,  # not the run: so the chart makes these pods only once
                        {"name": contract.ENV_ARTIFACTS, "value": "@{fetch.artifacts}"},
                        env_if("fetch.insecure", contract.ENV_ARTIFACTS_INSECURE, "true"),
                    ],
                    "volumeMounts": [
                        RUNTIME_MOUNT,
                        {"name": contract.ARTIFACTS_VOLUME, "mountPath": contract.ARTIFACTS_DIR},
                        read_only(contract.REGISTRY_VOLUME, contract.REGISTRY_DIR, "fetch.pullSecret"),
                        read_only(contract.REGISTRY_CA_VOLUME, contract.REGISTRY_CA_DIR, "fetch.ca"),
                        {
                            "@if": "fetch.cacheVolume",
                            "name": "@{fetch.cacheVolume}",
                            "mountPath": contract.ARTIFACTS_CACHE_DIR,
                        },
                    ],
                }
            ],
            "volumes": [
                RUNTIME_VOLUME,
                {"name": contract.ARTIFACTS_VOLUME, "emptyDir": {}},
                {
                    "@if": "fetch.pullSecret",
                    **secret_volume(
                        contract.REGISTRY_VOLUME,
                        "@{fetch.pullSecret}",
                        DOCKER_CONFIG_KEY,
                        contract.REGISTRY_FILE,
                    ),
                },
                {
                    "@if": "fetch.ca",
                    "name": contract.REGISTRY_CA_VOLUME,
                    "configMap": {
                        "name": "@{fetch.ca.name}",
                        "items": [{"key": "@{fetch.ca.key}", "path": contract.REGISTRY_CA_FILE}],
                    },
                },
            ],
        },
    },
    # At the same paths in driver and executors, however they were delivered.
    "artifacts": {
        "@if": "artifactMounts",
        "spec": {**_main(volumeMounts="@{artifactMounts}"), "volumes": "@{artifactVolumes}"},
    },
    # Folders of modules, and archives: those that were pushed, and those of the image.
    "python_path": {
        "@if": "pythonPath",
        "spec": _main(env=[{"name": contract.ENV_PYTHON_PATH, "value": "@{pythonPath}"}]),
    },
    # Otherwise, the kubelet changes the group of all logs of all runs whenever a pod starts.
    "log_archive_claim": {
        "@if": "archive.claim",
        "spec": {"securityContext": {"fsGroupChangePolicy": "OnRootMismatch"}},
    },
    # Copies what the containers print to an archive, and ends after those that start later. The root of the
    # volume is its own: each other container has one folder of it.
    "log_archive": {
        "@if": "archive",
        "spec": {
            "initContainers": [
                {
                    "name": contract.LOG_ARCHIVE_CONTAINER,
                    "image": "@{archive.image}",
                    "imagePullPolicy": "@{pullPolicy}",
                    "restartPolicy": "Always",
                    "command": [
                        "sh",
                        f"{contract.LOG_ARCHIVE_SCRIPT_DIR}/{contract.LOG_ARCHIVE_SCRIPT_FILE}",
                    ],
                    "env": [
                        *RUN_ENV,
                        field_env(contract.ENV_POD_NAME, "metadata.name"),
                        field_env(contract.ENV_POD_NAMESPACE, "metadata.namespace"),
                        {
                            "name": contract.ENV_LOG_ARCHIVE,
                            "value": f"@{{archive.root}}/$({contract.ENV_POD_NAMESPACE})/@{{name}}",
                        },
                        {"name": contract.ENV_LOG_ARCHIVE_SECONDS, "value": "@{archive.seconds}"},
                        {"name": contract.ENV_LOG_ARCHIVE_KIB, "value": "@{archive.kib}"},
                        env_if("archive.maxAge", contract.ENV_LOG_MAX_AGE),
                        *_rclone_env(),
                    ],
                    "resources": "@{archive.resources}",
                    "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
                    "volumeMounts": [
                        {"name": contract.LOGS_VOLUME, "mountPath": contract.LOGS_DIR},
                        read_only(contract.LOG_ARCHIVE_SCRIPT_VOLUME, contract.LOG_ARCHIVE_SCRIPT_DIR),
                        read_only(
                            contract.LOG_ARCHIVE_LOGIN_VOLUME,
                            contract.LOG_ARCHIVE_LOGIN_DIR,
                            "archive.secret",
                        ),
                        {
                            "@if": "archive.claim",
                            "name": contract.LOG_ARCHIVE_VOLUME,
                            "mountPath": contract.LOG_ARCHIVE_DIR,
                        },
                    ],
                }
            ],
            **_main(volumeMounts=[_own_logs("spark")]),
            "volumes": [
                {"name": contract.LOGS_VOLUME, "emptyDir": {}},
                {
                    "name": contract.LOG_ARCHIVE_SCRIPT_VOLUME,
                    "configMap": {
                        "name": "@{run}-conf",
                        "items": [
                            {
                                "key": contract.LOG_ARCHIVE_SCRIPT_FILE,
                                "path": contract.LOG_ARCHIVE_SCRIPT_FILE,
                            }
                        ],
                    },
                },
                {
                    "@if": "archive.secret",
                    **secret_volume(
                        contract.LOG_ARCHIVE_LOGIN_VOLUME,
                        "@{archive.secret}",
                        contract.LOG_ARCHIVE_LOGIN_FILE,
                        contract.LOG_ARCHIVE_LOGIN_FILE,
                    ),
                },
                {
                    "@if": "archive.claim",
                    **claim_volume(contract.LOG_ARCHIVE_VOLUME, "@{archive.claim}"),
                },
            ],
        },
    },
    # The document's init containers, then its sidecars, which end when Spark ends (native sidecars).
    "user_containers": {"spec": {"initContainers": "@{userContainers}"}},
    # --- the driver -----------------------------------------------------------------------------------
    # The claim for event logs, at the path where Spark writes them.
    "event_log": {
        "@if": "claim",
        "spec": {
            **_main(volumeMounts=[{"name": contract.EVENT_LOG_VOLUME, "mountPath": "@{claim.path}"}]),
            "volumes": [claim_volume(contract.EVENT_LOG_VOLUME, "@{claim.name}")],
            # Otherwise, the kubelet changes the group of all log files of all runs whenever a driver starts.
            "securityContext": {"fsGroupChangePolicy": "OnRootMismatch"},
        },
    },
    # The driver's login. A folder and no subPath, so that a new keytab or ticket arrives while the driver
    # runs.
    "kerberos_login": {
        "@if": "login",
        "spec": {
            **_main(
                env="@{login.env}",
                volumeMounts=[read_only(contract.KERBEROS_VOLUME, contract.KERBEROS_DIR)],
            ),
            "volumes": [
                secret_volume(contract.KERBEROS_VOLUME, "@{login.secret}", "@{login.key}", "@{login.file}")
            ],
        },
    },
    # Keeps autoscalers from evicting a driver to remove a node.
    "driver_neighbours": {
        "metadata": {
            "annotations": {
                "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
                "karpenter.sh/do-not-disrupt": "true",
            }
        }
    },
    # Waits until no other driver of the application runs: first of all, also before the containers of a
    # template, so that what the others do is new.
    "concurrency_container": {
        "@if": "concurrency",
        "spec": {
            "initContainers": [
                {
                    **RUNTIME,
                    "name": contract.CONCURRENCY_CONTAINER,
                    "args": ["concurrency"],
                    "env": [
                        *RUN_ENV,
                        {"name": contract.ENV_CONCURRENCY_POLICY, "value": "@{concurrency}"},
                        field_env(contract.ENV_POD_NAME, "metadata.name"),
                        field_env(contract.ENV_POD_NAMESPACE, "metadata.namespace"),
                        field_env(contract.ENV_POD_UID, "metadata.uid"),
                    ],
                    "volumeMounts": [
                        RUNTIME_MOUNT,
                        {"name": contract.SESSION_VOLUME, "mountPath": contract.SESSION_DIR},
                        read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
                    ],
                }
            ]
        },
    },
    # Copies the jar for the application's Scala version, and refuses to start an expired run.
    "install_container": {
        "@if": "install",
        "spec": {
            "initContainers": [
                {
                    **RUNTIME,
                    "name": contract.INSTALL_CONTAINER,
                    "args": ["install"],
                    "env": [*RUN_ENV, {"name": contract.ENV_SCALA_VERSION, "value": "@{scalaVersion}"}],
                    "volumeMounts": [
                        RUNTIME_MOUNT,
                        {"name": contract.LIB_VOLUME, "mountPath": contract.LIB_DIR},
                        read_only(contract.TUNING_VOLUME, contract.TUNING_DIR),
                    ],
                }
            ]
        },
    },
    # The native sidecar that creates and removes executors; the only container with a token.
    "allocator_container": {
        "@if": "byAllocator",
        "spec": {
            "initContainers": [
                {
                    **RUNTIME,
                    "name": contract.ALLOCATOR_CONTAINER,
                    "args": ["allocator"],
                    "restartPolicy": "Always",
                    "env": [
                        *RUN_ENV,
                        field_env(contract.ENV_POD_NAME, "metadata.name"),
                        field_env(contract.ENV_POD_NAMESPACE, "metadata.namespace"),
                        field_env(contract.ENV_POD_UID, "metadata.uid"),
                        field_env(contract.ENV_POD_IP, "status.podIP"),
                        # The allocator passes it on as the application's secret.
                        secret_env(contract.ENV_SERVICE_SECRET, "serviceSecret"),
                        env_if("connect", contract.ENV_CONNECT_PORT, str(contract.CONNECT_PORT)),
                        env_if("withoutInstall", contract.ENV_CHECK_EXPIRY, "true"),
                        env_if("archive", contract.ENV_LOG_FOLDER, contract.LOGS_DIR),
                    ],
                    "ports": [{"name": contract.ALLOCATOR_CONTAINER, "containerPort": ALLOCATOR_PORT}],
                    "startupProbe": asks(contract.READY_PATH, ALLOCATOR_PORT, **STARTS),
                    "livenessProbe": asks(contract.HEALTH_PATH, ALLOCATOR_PORT, **LIVES),
                    "volumeMounts": [
                        RUNTIME_MOUNT,
                        {"name": contract.SESSION_VOLUME, "mountPath": contract.SESSION_DIR},
                        read_only(contract.CONF_VOLUME, contract.CONF_DIR),
                        read_only(contract.EXECUTOR_VOLUME, contract.EXECUTOR_DIR),
                        read_only(contract.TUNING_VOLUME, contract.TUNING_DIR),
                        read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
                        _own_logs(contract.ALLOCATOR_CONTAINER),
                    ],
                }
            ]
        },
    },
    # The stock image in the `driver` mode of its entrypoint: spark-submit, in client mode.
    "driver_container": {
        "spec": _main(
            args=["@{*logged}", "@{*sparkArguments}"],
            ports=[
                {"name": "driver-rpc-port", "containerPort": contract.DRIVER_PORT},
                {"name": "blockmanager", "containerPort": contract.BLOCK_MANAGER_PORT},
                {"@if": "showsPages", "name": "spark-ui", "containerPort": contract.UI_PORT},
                {
                    "@if": "connect",
                    "name": contract.CONNECT_PORT_NAME,
                    "containerPort": contract.CONNECT_PORT,
                },
            ],
            # A server that resolves packages takes minutes to start; a Deployment fails after ten minutes.
            startupProbe=asks_connect(periodSeconds=2, failureThreshold=270),
            readinessProbe=asks_connect(periodSeconds=10, failureThreshold=3),
            env=[
                field_env(contract.ENV_BIND_ADDRESS, "status.podIP"),
                {"name": contract.ENV_SPARK_CONF_DIR, "value": contract.CONF_DIR},
                HADOOP_ENV,
                env_if("sparkUser", contract.ENV_SPARK_USER),
                {
                    "@if": "connectToken",
                    "name": contract.ENV_CONNECT_TOKEN,
                    "valueFrom": {"secretKeyRef": "@{connectToken}"},
                },
            ],
            volumeMounts=[
                read_only(contract.LIB_VOLUME, contract.LIB_DIR, "byAllocator"),
                read_only(contract.SESSION_VOLUME, contract.SESSION_DIR, "byAllocator"),
                read_only("@{confVolumeName}", contract.CONF_DIR),
                HADOOP_MOUNT,
            ],
        )
    },
    # Spark creates the executors: the driver's container has the token, and the template of their pods.
    "driver_of_spark": {
        "@if": "bySpark",
        "spec": _main(
            env=[
                field_env(contract.ENV_POD_NAME, "metadata.name"),
                field_env(contract.ENV_POD_NAMESPACE, "metadata.namespace"),
                field_env(contract.ENV_LOCAL_HOSTNAME, "status.podIP"),
            ],
            volumeMounts=[
                read_only(contract.EXECUTOR_VOLUME, contract.EXECUTOR_DIR),
                read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
            ],
        ),
    },
    # JupyterLab instead of Spark's own program; its kernels are the drivers.
    "notebook": {
        "@if": "notebook",
        "spec": {
            "initContainers": [
                {
                    "name": contract.ALLOCATOR_CONTAINER,
                    "env": [{"name": contract.ENV_SESSIONS, "value": contract.SESSIONS_NOTEBOOK}],
                }
            ],
            **_main(
                args=["@{*logged}", "bash", f"{contract.CONF_DIR}/{contract.NOTEBOOK_SCRIPT_FILE}"],
                ports=[{"name": contract.NOTEBOOK_PORT_NAME, "containerPort": contract.NOTEBOOK_PORT}],
                # No liveness probe, because a restart would end all kernels.
                startupProbe=asks_jupyter(periodSeconds=2, failureThreshold=270),
                readinessProbe=asks_jupyter(periodSeconds=10, failureThreshold=3),
                env=[
                    # The allocator writes the configuration of all drivers in this container there.
                    {"name": contract.ENV_SPARK_CONF_DIR, "value": contract.SESSION_DIR},
                    {"name": contract.ENV_HOME, "value": contract.HOME_DIR},
                    {"name": contract.ENV_NOTEBOOK_PORT, "value": str(contract.NOTEBOOK_PORT)},
                    {
                        "name": contract.ENV_NOTEBOOK_TOKEN,
                        "value": f"{contract.NOTEBOOK_DIR}/{NOTEBOOK_TOKEN_FILE}",
                    },
                    env_if("notebook.idleSeconds", contract.ENV_KERNEL_IDLE_SECONDS),
                ],
                volumeMounts=[
                    {"name": contract.HOME_VOLUME, "mountPath": contract.HOME_DIR},
                    read_only(contract.NOTEBOOK_VOLUME, contract.NOTEBOOK_DIR),
                ],
            ),
            "volumes": [
                {"@if": "notebook.claim", **claim_volume(contract.HOME_VOLUME, "@{notebook.claim}")},
                {"@if": "notebook.withoutClaim", "name": contract.HOME_VOLUME, "emptyDir": {}},
                secret_volume(
                    contract.NOTEBOOK_VOLUME,
                    "@{notebook.token.name}",
                    "@{notebook.token.key}",
                    NOTEBOOK_TOKEN_FILE,
                ),
            ],
            # Otherwise, the kubelet changes the group of all files in the home directory at each start.
            "securityContext": {"fsGroupChangePolicy": "OnRootMismatch"},
        },
    },
    # The volumes that the containers of the pod share.
    "pod_volumes": {
        "spec": {
            "volumes": [
                {"@if": "install", "name": contract.LIB_VOLUME, "emptyDir": {"sizeLimit": "64Mi"}},
                # It has the jars for all Scala versions, so nothing has to be copied.
                {
                    "@if": "mountsRuntimeImage",
                    "name": contract.LIB_VOLUME,
                    "image": {"reference": "@{runtimeImage}", "pullPolicy": "@{pullPolicy}"},
                },
                runtime_volume(contract.LIB_VOLUME, contract.RUNTIME_JAR_FILE, JAR_FILE, "mountsJar"),
                {**RUNTIME_VOLUME, "@if": "mountsJar"},
                # In memory, because it contains the RPC secret.
                {
                    "@if": "byAllocator",
                    "name": contract.SESSION_VOLUME,
                    "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"},
                },
                config_map_volume(contract.CONF_VOLUME, "@{run}-conf"),
                config_map_volume(contract.EXECUTOR_VOLUME, "@{run}-executor"),
                {"@if": "byAllocator", **config_map_volume(contract.TUNING_VOLUME, "@{name}-tuning")},
                TOKEN,
                CONF_FILES_VOLUME,
                *MOUNTED_VOLUMES,
                *HADOOP_VOLUMES,
            ]
        }
    },
    # The pod's run, its account (without a token for user code) and its restart policy.
    "driver_identity": {
        "metadata": {"labels": OWN_LABELS},
        "spec": {
            "serviceAccountName": "@{account}",
            "automountServiceAccountToken": False,
            "restartPolicy": "@{restart}",
        },
    },
    # --- executors ------------------------------------------------------------------------------------
    # Attributes of an executor for custom log URLs (BasicExecutorFeatureStep); the allocator sets the values.
    "log_url_attributes": {
        "@if": "customLogUrl",
        "spec": _main(
            env=[
                {"name": contract.ENV_ATTRIBUTE_APP_ID, "value": f"$({contract.ENV_APPLICATION_ID})"},
                {"name": contract.ENV_ATTRIBUTE_EXECUTOR_ID, "value": f"$({contract.ENV_EXECUTOR_ID})"},
            ]
        ),
    },
    # The same for the folders of a log archive; the label is that of the run, also of one that `run` makes.
    "archived_log_url_attributes": {
        "@if": "archivedLogUrl",
        "spec": _main(
            env=[
                field_env(contract.ENV_ATTRIBUTE_POD_NAME, "metadata.name"),
                field_env(contract.ENV_ATTRIBUTE_RUN, f"metadata.labels['{contract.LABEL_RUN}']"),
            ]
        ),
    },
    # Spark's decommissioning starts in the container's preStop hook (BasicExecutorFeatureStep).
    "decommission": {
        "@if": "decommissionScript",
        "spec": _main(lifecycle={"preStop": {"exec": {"command": ["@{decommissionScript}"]}}}),
    },
    # The application's part of the service's directories on the node, at the same paths.
    "beside_service_of_node": {
        "@if": "onNode",
        "metadata": {"annotations": {contract.ANNOTATION_BLOCK_MANAGER_PORTS: "@{shuffle.hostPorts}"}},
        "spec": {
            **_main(
                args=["@{*logged}", "bash", f"{contract.CONF_DIR}/{contract.SHUFFLE_SCRIPT_FILE}"],
                env=[
                    field_env(contract.ENV_EXECUTOR_HOST, "status.hostIP"),
                    {"name": contract.ENV_SHUFFLE_PORT, "value": "@{shuffle.portText}"},
                    {"name": contract.ENV_LOCAL_DIRS, "value": "@{shuffle.places}"},
                    {"@if": "shuffle.hostNetwork", **field_env(contract.ENV_LOCAL_IP, "status.podIP")},
                ],
                volumeMounts="@{shuffle.mounts}",
            ),
            # Only nodes with a pod of the service. The scheduler checks that, so the application needs no
            # permission.
            "affinity": {
                "podAffinity": {
                    REQUIRED: [
                        "@{*ownTerms}",
                        {
                            "labelSelector": {
                                "matchLabels": {contract.LABEL_SHUFFLE_SERVICE: "@{shuffle.name}"}
                            },
                            "namespaces": ["@{shuffle.namespace}"],
                            "topologyKey": "kubernetes.io/hostname",
                        },
                    ]
                }
            },
            "volumes": "@{shuffle.volumes}",
            "hostNetwork": "@{shuffle.hostNetwork}",
            "dnsPolicy": "@{shuffle.dnsPolicy}",
        },
    },
    # The shuffle service as a native sidecar: it starts before Spark, and ends after it.
    "shuffle_sidecar": {
        "@if": "sidecar",
        "spec": {
            "initContainers": [
                {
                    "name": contract.SHUFFLE_CONTAINER,
                    "image": "@{image}",
                    "restartPolicy": "Always",
                    "args": SERVICE_ARGS,
                    "env": [
                        {"name": "SPARK_DAEMON_MEMORY", "value": "@{sidecar.heap}m"},
                        {"name": "SPARK_SHUFFLE_OPTS", "value": "@{sidecar.options}"},
                    ],
                    "ports": [{"name": "shuffle", "containerPort": "@{sidecar.port}"}],
                    "startupProbe": connects("@{sidecar.port}", **STARTS),
                    "resources": "@{sidecar.resources}",
                    "volumeMounts": "@{sidecar.mounts}",
                    "imagePullPolicy": "@{rolePullPolicy}",
                }
            ]
        },
    },
    # The stock image runs our script, which waits for the allocator's permission, then starts Spark's
    # executor.
    "executor_container": {
        "@if": "byAllocator",
        "spec": _main(
            args=["@{*logged}", "bash", f"{contract.CONF_DIR}/{contract.EXECUTOR_SCRIPT_FILE}"],
            ports=[{"name": "blockmanager", "containerPort": contract.BLOCK_MANAGER_PORT}],
            env=[
                {"name": contract.ENV_EXECUTOR_CORES, "value": "@{cores}"},
                {"name": contract.ENV_EXECUTOR_MEMORY, "value": "@{heap}m"},
                field_env(contract.ENV_EXECUTOR_POD_IP, "status.podIP"),
                field_env(contract.ENV_EXECUTOR_POD_NAME, "metadata.name"),
                {"name": contract.ENV_SPARK_CONF_DIR, "value": contract.CONF_DIR},
                HADOOP_ENV,
                env_if("proxyUser", contract.ENV_SPARK_USER),
                env_if("classPath", contract.ENV_CLASSPATH),
                env_if("libraryPath", contract.ENV_LIBRARY_PATH),
                env_if("pythonFiles", contract.ENV_PYTHON_FILES),
                env_if("javaOptions", contract.ENV_EXECUTOR_JAVA_OPTIONS),
                "@{*startupEnv}",
            ],
            volumeMounts=[read_only("@{confVolumeName}", contract.CONF_DIR), HADOOP_MOUNT],
        ),
    },
    # Spark adds the command, its variables and ports to each executor's container (BasicExecutorFeatureStep).
    "executor_of_spark": {
        "@if": "bySpark",
        "spec": _main(
            args=["@{*logged}"],
            env=[HADOOP_ENV],
            volumeMounts=[read_only("@{confVolumeName}", contract.CONF_DIR), HADOOP_MOUNT],
        ),
    },
    "executor_identity": {
        "metadata": {"labels": OWN_LABELS},
        "spec": {
            "volumes": [
                {"@if": "plainConf", **config_map_volume(contract.CONF_VOLUME, "@{run}-conf")},
                CONF_FILES_VOLUME,
                *MOUNTED_VOLUMES,
                *HADOOP_VOLUMES,
            ],
            "serviceAccountName": "@{account}",
            "automountServiceAccountToken": False,
            "restartPolicy": "Never",
        },
    },
    # --- groups of pods: both roles -------------------------------------------------------------------
    "volcano": {
        "@if": "batch.volcano",
        "metadata": {"annotations": {contract.ANNOTATION_POD_GROUP: "@{run}"}},
    },
    "yunikorn": {
        "@if": "batch.yunikorn",
        "metadata": {
            "labels": {
                contract.LABEL_YUNIKORN_APPLICATION: "@{run}",
                contract.LABEL_YUNIKORN_QUEUE: "@{batch.queue}",
            },
            "annotations": {contract.ANNOTATION_TASK_GROUP: "@{batch.taskGroup}"},
        },
    },
    # --- only executors -------------------------------------------------------------------------------
    "gang": {
        "@if": "batch.gang",
        "metadata": {"annotations": {contract.ANNOTATION_GANG: "@{batch.gang}"}},
    },
    "pools": {
        "@if": "pools",
        "metadata": {"annotations": {contract.ANNOTATION_POOLS: "@{pools}"}},
    },
    # Each executor is a workload of its own in the queue, and is admitted separately.
    "executor_queue": {
        "@if": "queue",
        "metadata": {
            "labels": {
                contract.LABEL_QUEUE: "@{queue.name}",
                contract.LABEL_QUEUE_PRIORITY: "@{queue.priority}",
                contract.LABEL_QUEUE_MANAGED: "true",
            },
            "annotations": {contract.ANNOTATION_QUEUE_PARENT: "sparkgen"},
        },
    },
}
"""Step -> its layer."""

COMMON_STEPS = (
    "default_security",
    "default_neighbours",
    "batch_scheduler",
    "spark_labels",
    "template",
    "executor_env",
    "metadata",
    "image",
    "resources",
    "scheduling",
    "pod_settings",
    "container_settings",
    "mounted_objects",
    "volumes",
    "scratch",
    "krb5",
)
STEPS: Mapping[str, tuple[str, ...]] = {
    "driver": (
        "concurrency_container",
        "event_log",
        "log_archive_claim",
        "driver_neighbours",
        *COMMON_STEPS,
        "kerberos_login",
        "artifacts",
        "python_path",
        "driver_container",
        "driver_of_spark",
        "install_container",
        "fetch_container",
        "user_containers",
        "log_archive",
        "allocator_container",
        "notebook",
        "pod_volumes",
        "driver_identity",
        "volcano",
        "yunikorn",
    ),
    "executor": (
        "log_url_attributes",
        "archived_log_url_attributes",
        "log_archive_claim",
        *COMMON_STEPS,
        "artifacts",
        "python_path",
        "fetch_container",
        "user_containers",
        "decommission",
        "executor_container",
        "executor_of_spark",
        "beside_service_of_node",
        "shuffle_sidecar",
        "log_archive",
        "executor_identity",
        "volcano",
        "yunikorn",
        "gang",
        "pools",
        "executor_queue",
    ),
}
"""Role -> the layers of its pod, each merged over the ones before it. So the order of the list is the
precedence: sparkgen's defaults, then the document's `template`, then its typed fields, then what the contract
requires.
"""
