"""The driver's pod: `install` brings the scheduler jar, `allocator` talks to Kubernetes, Spark runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application, Role
from sparkgen.resources import pod
from sparkgen.resources.conffiles import conf_mount, conf_volume
from sparkgen.resources.merge import merge
from sparkgen.resources.pod import Layer, Step
from sparkgen.resources.security import RESTRICTED
from sparkgen.resources.shuffle import service_secret_env

DEFAULT_RUNTIME_RESOURCES = {
    "requests": {"cpu": "100m", "memory": "64Mi"},
    "limits": {"cpu": "1", "memory": "256Mi"},
}
"""For `install` and `allocator`: both sides are set, so that a namespace with a quota accepts the pod.
Hundreds of creations a second, and a start that nothing waits for, take a core for a moment."""

TOKEN_SECONDS = 3600


def driver_pod(application: Application, run: str) -> dict[str, Any]:
    """The pod template of the driver of the run named `run`."""
    steps: tuple[Step, ...] = (
        event_log,
        *pod.COMMON_STEPS,
        _bound(install_container, run),
        pod.user_containers,
        _bound(allocator_container, run),
        spark_container,
        _bound(pod_volumes, run),
        _bound(identity, run),
    )
    return pod.assemble(application, application.driver, steps)


def _bound(step: Callable[[Application, Role, str], Layer], run: str) -> Step:
    """The step for one run. It keeps its name: the chart calls its templates in the order of the names."""

    @wraps(step)
    def bound(application: Application, role: Role) -> Layer:
        return step(application, role, run)

    return bound


def event_log(application: Application, role: Role) -> Layer:
    """The claim for event logs, at the path where Spark writes them."""
    claim = application.log_claim
    if claim is None:
        return {}
    layer = pod.main_container(
        role, volumeMounts=[{"name": contract.EVENT_LOG_VOLUME, "mountPath": claim.path}]
    )
    layer["spec"] |= {
        "volumes": [pod.claim_volume(contract.EVENT_LOG_VOLUME, claim.name)],
        # Else the kubelet hands every log of every run to the group anew, whenever a driver starts.
        "securityContext": {"fsGroupChangePolicy": "OnRootMismatch"},
    }
    return layer


def install_container(application: Application, role: Role, run: str) -> Layer:
    """Copies the jar of the application's Scala line, and refuses to start a run that has expired."""
    container = {
        **_runtime_container(application, contract.INSTALL_CONTAINER, ["install"]),
        "env": [
            *_run_env(application, run),
            {"name": contract.ENV_SCALA_VERSION, "value": application.scala_version},
        ],
        "volumeMounts": [
            {"name": contract.LIB_VOLUME, "mountPath": contract.LIB_DIR},
            pod.read_only(contract.TUNING_VOLUME, contract.TUNING_DIR),
        ],
    }
    return {"spec": {"initContainers": [container]}}


def allocator_container(application: Application, role: Role, run: str) -> Layer:
    """The native sidecar that creates and removes executors; the only one with a token."""
    port = contract.ALLOCATOR_PORT
    container = {
        **_runtime_container(application, contract.ALLOCATOR_CONTAINER, ["allocator"]),
        "restartPolicy": "Always",
        "env": [
            *_run_env(application, run),
            pod.field_env(contract.ENV_POD_NAME, "metadata.name"),
            pod.field_env(contract.ENV_POD_NAMESPACE, "metadata.namespace"),
            pod.field_env(contract.ENV_POD_UID, "metadata.uid"),
            pod.field_env(contract.ENV_POD_IP, "status.podIP"),
            *service_secret_env(application.shuffle),
        ],
        "ports": [{"name": contract.ALLOCATOR_CONTAINER, "containerPort": port}],
        "startupProbe": {
            "httpGet": {"path": contract.READY_PATH, "port": port},
            "periodSeconds": 1,
            "failureThreshold": 120,
        },
        "livenessProbe": {
            "httpGet": {"path": contract.HEALTH_PATH, "port": port},
            "periodSeconds": 10,
            "failureThreshold": 6,
        },
        "volumeMounts": [
            {"name": contract.SESSION_VOLUME, "mountPath": contract.SESSION_DIR},
            pod.read_only(contract.CONF_VOLUME, contract.CONF_DIR),
            pod.read_only(contract.EXECUTOR_VOLUME, contract.EXECUTOR_DIR),
            pod.read_only(contract.TUNING_VOLUME, contract.TUNING_DIR),
            pod.read_only(contract.TOKEN_VOLUME, contract.TOKEN_DIR),
        ],
    }
    return {"spec": {"initContainers": [container]}}


def _runtime_container(application: Application, name: str, arguments: list[str]) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": name,
        "image": application.runtime_image,
        "args": arguments,
        "resources": merge(DEFAULT_RUNTIME_RESOURCES, application.allocator_resources or {}),
        "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
    }
    if application.image_pull_policy:
        container["imagePullPolicy"] = application.image_pull_policy
    return container


def _run_env(application: Application, run: str) -> list[dict[str, Any]]:
    return [
        {"name": contract.ENV_CONTRACT, "value": str(contract.VERSION)},
        {"name": contract.ENV_APPLICATION, "value": application.name},
        {"name": contract.ENV_RUN, "value": run},
    ]


def spark_container(application: Application, role: Role) -> Layer:
    """The stock image in the `driver` mode of its entrypoint: spark-submit, in client mode."""
    arguments = ["driver", "--properties-file", contract.SESSION_PROPERTIES]
    if application.proxy_user:
        arguments += ["--proxy-user", application.proxy_user]
    if application.main_class:
        arguments += ["--class", application.main_class]
    if application.main_file:
        arguments.append(application.main_file)
    env = [
        pod.field_env(contract.ENV_BIND_ADDRESS, "status.podIP"),
        {"name": contract.ENV_SPARK_CONF_DIR, "value": contract.CONF_DIR},
    ]
    mounts = [
        pod.read_only(contract.LIB_VOLUME, contract.LIB_DIR),
        pod.read_only(contract.SESSION_VOLUME, contract.SESSION_DIR),
        conf_mount(application),
    ]
    if application.hadoop:
        env.append({"name": contract.ENV_HADOOP_CONF_DIR, "value": contract.HADOOP_DIR})
        mounts.append(pod.read_only(contract.HADOOP_VOLUME, contract.HADOOP_DIR))
    return pod.main_container(
        role,
        args=[*arguments, *application.arguments],
        ports=[
            {"name": "driver-rpc-port", "containerPort": contract.DRIVER_PORT},
            {"name": "blockmanager", "containerPort": contract.BLOCK_MANAGER_PORT},
            {"name": "spark-ui", "containerPort": contract.UI_PORT},
        ],
        env=env,
        volumeMounts=mounts,
    )


def pod_volumes(application: Application, role: Role, run: str) -> Layer:
    """The volumes through which the containers of the pod meet."""
    volumes: list[dict[str, Any]] = [
        {"name": contract.LIB_VOLUME, "emptyDir": {"sizeLimit": "64Mi"}},
        # In memory, because the RPC secret is in it.
        {"name": contract.SESSION_VOLUME, "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
        pod.config_map_volume(contract.CONF_VOLUME, f"{run}-conf"),
        pod.config_map_volume(contract.EXECUTOR_VOLUME, f"{run}-executor"),
        pod.config_map_volume(contract.TUNING_VOLUME, f"{application.name}-tuning"),
        {"name": contract.TOKEN_VOLUME, "projected": {"sources": token_sources()}},
    ]
    if application.conf_files.keys:
        volumes.append(conf_volume(application, run))
    if application.hadoop:
        volumes.append(pod.config_map_volume(contract.HADOOP_VOLUME, f"{run}-hadoop"))
    return {"spec": {"volumes": volumes}}


def token_sources() -> list[dict[str, Any]]:
    """What the API server would mount by itself, as a volume that one container alone mounts."""
    namespace = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
    return [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": TOKEN_SECONDS}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]


def identity(application: Application, role: Role, run: str) -> Layer:
    """The run that the pod belongs to, its account (without a token for user code) and its restarts."""
    return {
        "metadata": {"labels": {contract.LABEL_RUN: run}},
        "spec": {
            "serviceAccountName": application.account.name,
            "automountServiceAccountToken": False,
            "restartPolicy": "Always" if application.restart == "Always" else "Never",
        },
    }
