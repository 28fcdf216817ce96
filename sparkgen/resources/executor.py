"""The executor's pod template: rendered in full, so that reviewers, scanners and policies see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application, Role, Shuffle
from sparkgen.model.properties import is_true
from sparkgen.resources import pod
from sparkgen.resources.conffiles import conf_mount, conf_volume
from sparkgen.resources.merge import merge
from sparkgen.resources.pod import Layer, Step
from sparkgen.resources.shuffle import SERVICE_PORT, shuffle_service

DECOMMISSION_SCRIPT = "/opt/decom.sh"
"""Default of spark.kubernetes.decommission.script, in the stock image."""

FIXED_PORTS = frozenset(
    {"spark.blockManager.port", "spark.driver.blockManager.port", "spark.driver.port", "spark.ui.port"}
)
"""What conf.py sets whatever the document says."""


def executor_pod(application: Application, run: str) -> dict[str, Any]:
    """The pod template of every executor of the run named `run`.

    The allocator adds per executor: name, owner, and the variables of `contract.ADDED_BY_ALLOCATOR`.
    """

    def identity(application: Application, role: Role) -> Layer:
        return _identity(application, role, run)

    steps: tuple[Step, ...] = (
        executor_env,
        *pod.COMMON_STEPS,
        pod.user_containers,
        decommission,
        spark_container,
        shuffle_service,
        identity,
    )
    return pod.assemble(application, application.executor, steps)


def decommission(application: Application, role: Role) -> Layer:
    """Spark's decommissioning starts in the container's preStop hook (BasicExecutorFeatureStep)."""
    if not is_true(application.properties, "spark.decommission.enabled") or role.spec.get("lifecycle"):
        return {}
    script = application.properties.get("spark.kubernetes.decommission.script", DECOMMISSION_SCRIPT)
    return pod.main_container(role, lifecycle={"preStop": {"exec": {"command": [script]}}})


def spark_container(application: Application, role: Role) -> Layer:
    """The stock image runs our script: it waits for the allocator's word, then starts Spark's executor."""
    env: list[dict[str, Any]] = [
        {"name": contract.ENV_EXECUTOR_CORES, "value": str(role.cores)},
        {"name": contract.ENV_EXECUTOR_MEMORY, "value": f"{role.memory.heap}m"},
        pod.field_env(contract.ENV_EXECUTOR_POD_IP, "status.podIP"),
        pod.field_env(contract.ENV_EXECUTOR_POD_NAME, "metadata.name"),
        {"name": contract.ENV_SPARK_CONF_DIR, "value": contract.CONF_DIR},
    ]
    mounts = [conf_mount(application)]
    if application.hadoop:
        env.append({"name": contract.ENV_HADOOP_CONF_DIR, "value": contract.HADOOP_DIR})
        mounts.append(pod.read_only(contract.HADOOP_VOLUME, contract.HADOOP_DIR))
    if application.proxy_user:
        env.append({"name": contract.ENV_SPARK_USER, "value": application.proxy_user})
    class_path = application.properties.get("spark.executor.extraClassPath")
    if class_path:
        env.append({"name": contract.ENV_CLASSPATH, "value": class_path})
    if role.java_options:
        env.append({"name": contract.ENV_EXECUTOR_JAVA_OPTIONS, "value": role.java_options})
    options = startup_options(application.properties, application.shuffle)
    env += [
        {"name": f"{contract.ENV_JAVA_OPT_PREFIX}{index}", "value": option}
        for index, option in enumerate(options)
    ]
    return pod.main_container(
        role,
        args=["bash", f"{contract.CONF_DIR}/{contract.EXECUTOR_SCRIPT_FILE}"],
        ports=[{"name": "blockmanager", "containerPort": contract.BLOCK_MANAGER_PORT}],
        env=env,
        volumeMounts=mounts,
    )


def startup_options(properties: Mapping[str, str], shuffle: Shuffle | None = None) -> list[str]:
    """Properties that an executor needs before it can ask the driver for the others, as JVM options.

    Source: SparkConf.isExecutorStartupConf. Ports that the contract fixes come from the driver: an
    executor would take the document's instead.
    """
    wanted = {"spark.authenticate": "true", **properties}
    fixed = FIXED_PORTS if shuffle is None else FIXED_PORTS | {SERVICE_PORT}
    options = [
        f"-D{name}={text}"
        for name, text in sorted(wanted.items())
        if name not in fixed and _is_startup_property(name)
    ]
    if shuffle is not None and shuffle.on_node:
        options.append(f"-Dspark.blockManager.port=$({contract.ENV_BLOCK_MANAGER_PORT})")
    return options


def _is_startup_property(name: str) -> bool:
    return (
        (name.startswith("spark.auth") and name != "spark.authenticate.secret")
        or name.startswith(("spark.rpc", "spark.network", "spark.ssl", "spark.port."))
        or (name.startswith("spark.") and name.endswith(".port"))
    )


def executor_env(application: Application, role: Role) -> Layer:
    """`spark.executorEnv.NAME` of sparkConf as a variable; everything else that has the name wins over it."""
    prefix = "spark.executorEnv."
    env = [
        {"name": name.removeprefix(prefix), "value": text}
        for name, text in sorted(application.properties.items())
        if name.startswith(prefix)
    ]
    return pod.main_container(role, env=env) if env else {}


def _identity(application: Application, role: Role, run: str) -> Layer:
    volumes = [conf_volume(application, run)]
    if application.hadoop:
        volumes.append(pod.config_map_volume(contract.HADOOP_VOLUME, f"{run}-hadoop"))
    layer: Layer = {
        "metadata": {"labels": {contract.LABEL_RUN: run}},
        "spec": {
            "serviceAccountName": role.spec.get("serviceAccount") or application.account.name,
            "automountServiceAccountToken": False,
            "restartPolicy": "Never",
        },
    }
    return merge({"spec": {"volumes": volumes}}, layer)
