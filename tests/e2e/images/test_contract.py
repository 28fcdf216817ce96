"""The contract of the stock `apache/spark` images, as a table, held against the image at hand.

The rows are facts read in the Dockerfile and the entrypoint of the repository apache/spark-docker (3.5.8, and
the newest 4.x), and in Spark's own decom.sh. On a cluster of your own (KUBECONFIG) the same table holds the
real images to it.

Different on purpose in the image that tools/cluster builds: Debian's Java 17, where the stock 3.5.8 has 11
and the stock 4.x have 21; no pip, R, `tests` or gnupg; of `sbin` and the examples only what PyPI's package
has, and SparkPi; SPARK_TGZ_URL and other leftovers of the stock build are not set.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS

from .scripts import FILES, facts, values

PATHS = {
    "/": "directory",
    "/etc/passwd": "file",
    "/opt": "directory",
    "/opt/decom.sh": "(writable )?program",
    "/opt/entrypoint.sh": "program",
    "/opt/java/openjdk/bin/java": "program",
    "/opt/spark": "writable directory",
    "/opt/spark/RELEASE": "writable file",
    "/opt/spark/bin/spark-class": "writable program",
    "/opt/spark/bin/spark-submit": "writable program",
    "/opt/spark/conf": "missing",
    "/opt/spark/data": "writable directory",
    "/opt/spark/examples/jars/spark-examples.jar": "writable file",
    "/opt/spark/examples/jars/spark-examples_*-VERSION.jar": "writable file",
    "/opt/spark/examples/src/main/python/pi.py": "writable (file|program)",
    "/opt/spark/jars": "writable directory",
    "/opt/spark/jars/spark-core_*-VERSION.jar": "writable file",
    "/opt/spark/jars/spark-kubernetes_*-VERSION.jar": "writable file",
    "/opt/spark/python/lib/py4j-*-src.zip": "writable file",
    "/opt/spark/python/lib/pyspark.zip": "writable file",
    "/opt/spark/python/pyspark/__init__.py": "writable file",
    "/opt/spark/sbin": "writable directory",
    "/opt/spark/work-dir": "writable directory",
    "/tmp": "writable directory",  # noqa: S108
    "/usr/bin/tini": "program",
}
"""Paths, and what they are to user 185 (a regular expression)."""

FACTS = {
    "first process": "bash",  # any other command replaces the entrypoint: there is no tini before it
    "passwd": "spark:x:185:185:.*:/nonexistent:/.*",
    "group": "spark:x:185:",
    "user": "185:185",
    "directory": "/opt/spark/work-dir",
    "$SPARK_HOME": "/opt/spark",
    "$JAVA_HOME": "/opt/java/openjdk",
    "$HOME": "/nonexistent",  # so ~/.ivy2 cannot be written: spark.jars.packages needs spark.jars.ivy
    "$SPARK_CONF_DIR": "unset",
    "$SPARK_DIST_CLASSPATH": "unset",
    "$PYTHONPATH": "unset",
    "command java": "/opt/java/openjdk/bin/java",
    "command python3": "/usr/bin/python3",
    "command tini": "/usr/bin/tini",
    "command gosu": "/usr/s?bin/gosu",
    "command ps": "/usr/bin/ps|/bin/ps",
    "command wget": "/usr/bin/wget",
    "command kinit": "/usr/bin/kinit",
    "command netstat": "/usr/bin/netstat|/bin/netstat",
    "java version": "11|17|21|25",
    "java encoding": "UTF-8",
    "python encoding": "utf-8",
    "release": "Spark VERSION.*",
}
"""What facts.sh says as a command of the user's (a regular expression)."""

ENVIRONMENT = {
    "SPARK_HOME": "/fake",
    "JAVA_HOME": "/fake",
    "SPARK_DRIVER_BIND_ADDRESS": "10.1.2.3",
    "SPARK_DRIVER_URL": "spark://scheduler@10.1.2.3:7078",
    "SPARK_EXECUTOR_ID": "7",
    "SPARK_EXECUTOR_CORES": "3",
    "SPARK_EXECUTOR_MEMORY": "512m",
    "SPARK_APPLICATION_ID": "app-1",
    "SPARK_EXECUTOR_POD_IP": "10.1.2.4",
    "SPARK_EXECUTOR_POD_NAME": "pod-7",
    "SPARK_RESOURCE_PROFILE_ID": "2",
}
"""What Spark's driver gives an executor; and /fake for the programs that the entrypoint starts."""

JAVA_OPTIONS = {
    "SPARK_JAVA_OPT_0": "-Dfirst=a b",
    "SPARK_JAVA_OPT_1": "-Dsecond=*",
    "SPARK_JAVA_OPT_2": "-Dthird='$HOME'",
}

EXECUTOR_END = [
    "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
    *("--driver-url", "spark://scheduler@10.1.2.3:7078", "--executor-id", "7", "--cores", "3"),
    *("--app-id", "app-1", "--hostname", "10.1.2.4", "--resourceProfileId", "2", "--podName", "pod-7"),
]
DRIVER = [
    *("--conf", "spark.driver.bindAddress=10.1.2.3"),
    *("--conf", "spark.executorEnv.SPARK_DRIVER_POD_IP=10.1.2.3"),
    *("--deploy-mode", "client", "--class", "a.B", "local:///with space.jar", "*"),
]
MEMORY = ["-Xms512m", "-Xmx512m", "-cp"]
HERE = "/opt/spark/work-dir"


@dataclass(frozen=True, slots=True)
class Mode:
    """A container that the entrypoint starts with `arguments`, and what it must call."""

    arguments: list[str]
    program: str
    called_with: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    run_as: Mapping[str, int] = field(default_factory=dict)


SUBMIT = ["driver", "--class", "a.B", "local:///with space.jar", "*"]
MODES = {
    "driver": Mode(SUBMIT, "/fake/bin/spark-submit", DRIVER),
    "driver-as-root": Mode(SUBMIT, "/fake/bin/spark-submit", DRIVER, run_as={"runAsUser": 0}),
    "driver-as-anybody": Mode(
        SUBMIT, "/fake/bin/spark-submit", DRIVER, run_as={"runAsUser": 12345, "runAsGroup": 0}
    ),
    "executor": Mode(
        ["executor"],
        "/fake/bin/java",
        [*JAVA_OPTIONS.values(), *MEMORY, f"/fake/conf::/fake/jars/*:{HERE}:", *EXECUTOR_END],
        JAVA_OPTIONS,
    ),
    "executor-with-all-class-paths": Mode(
        ["executor"],
        "/fake/bin/java",
        [*MEMORY, f"/conf:/hadoop:/own:/fake/jars/*:/extra:{HERE}:/dist", *EXECUTOR_END],
        {
            "SPARK_CLASSPATH": "/own",
            "SPARK_EXTRA_CLASSPATH": "/extra",
            "HADOOP_CONF_DIR": "/hadoop",
            "SPARK_CONF_DIR": "/conf",
            "SPARK_DIST_CLASSPATH": "/dist",
            "HADOOP_HOME": "/fake",
        },
    ),
    "executor-finds-java-and-hadoop": Mode(
        ["executor"],
        "/fake/bin/java",
        [*MEMORY, f"/fake/conf::/fake/jars/*:{HERE}:/from/hadoop", *EXECUTOR_END],
        {"JAVA_HOME": "", "PATH": "/fake/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HADOOP_HOME": "/fake"},
    ),
}
"""The entrypoint's two modes, and each environment variable that it reads."""


def _container(name: str, image: str, arguments: list[str], **rest: Any) -> dict[str, Any]:
    mount = {"name": "fake", "mountPath": "/fake"}
    return {"name": name, "image": image, "args": arguments, "volumeMounts": [mount], **rest}


def _containers(image: str, version: str) -> list[dict[str, Any]]:
    paths = [path.replace("VERSION", version) for path in PATHS]
    modes = [
        _container(
            name,
            image,
            mode.arguments,
            env=[{"name": k, "value": v} for k, v in {**ENVIRONMENT, **mode.environment}.items()],
            securityContext=dict(mode.run_as),
        )
        for name, mode in MODES.items()
    ]
    return [
        *modes,
        _container("facts", image, ["bash", "/fake/facts.sh", *paths]),
        _container("decommission", image, ["bash", "/fake/decommission.sh"]),
        _container("exit-code", image, ["sh", "-c", "exit 7"]),
        _container("nothing", image, []),
        _container("not-root", image, ["true"], securityContext={"runAsNonRoot": True}),
    ]


def _run(cluster: Cluster, namespace: str, version: str) -> dict[str, Any]:
    """Run every container of the table in one pod: the states in which they ended, by their names."""
    keys = {path.replace("/", "."): text for path, text in FILES.items()}
    items = [{"key": path.replace("/", "."), "path": path} for path in FILES]
    volume = {"name": "fake", "configMap": {"name": "fake", "items": items, "defaultMode": 0o755}}
    metadata = {"name": "contract", "namespace": namespace}
    containers = _containers(f"{REPOSITORY}:{version}", version)
    spec = {"restartPolicy": "Never", "containers": containers, "volumes": [volume]}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "fake", "namespace": namespace},
            "data": keys,
        },
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec},
    )
    deadline = time.monotonic() + 120
    states: dict[str, Any] = {}
    while time.monotonic() < deadline:
        (pod,) = cluster.objects("pods", namespace)
        found = pod["status"].get("containerStatuses", [])
        states = {status["name"]: status["state"] for status in found}
        # Not-root never starts, in the stock image: it waits with an error for as long as the pod is there.
        if states and all("terminated" in state for name, state in states.items() if name != "not-root"):
            return states
        time.sleep(0.5)
    pytest.fail(f"not every container has ended: {states}")


def _wrong_paths(said: Mapping[str, str], version: str) -> dict[str, str]:
    found = {path: said[path.replace("VERSION", version)] for path in PATHS}
    return {path: what for path, what in found.items() if not re.fullmatch(PATHS[path], what)}


def _wrong_facts(said: Mapping[str, str], version: str) -> dict[str, str]:
    wanted = {name: pattern.replace("VERSION", re.escape(version)) for name, pattern in FACTS.items()}
    return {name: said[name] for name, pattern in wanted.items() if not re.fullmatch(pattern, said[name])}


@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_the_image_keeps_the_contract(cluster: Cluster, namespace: str, version: str) -> None:
    """Every row of every table; all containers run in one pod, to be quick."""
    cluster.load_spark([version])
    states = _run(cluster, namespace, version)
    logs = {
        name: cluster.kubectl("logs", "-n", namespace, "contract", "-c", name)
        for name in states
        if name != "not-root"
    }
    codes = {name: state["terminated"]["exitCode"] for name, state in states.items() if name in logs}
    assert codes == {name: 7 if name == "exit-code" else 0 for name in logs}, logs
    assert states["not-root"].get("waiting", {}).get("reason") == "CreateContainerConfigError", (
        "the stock image names its user, so the kubelet cannot know that it is not root without runAsUser"
    )
    said = facts(logs["facts"])
    assert _wrong_paths(said, version) == {}
    assert _wrong_facts(said, version) == {}
    for name, mode in MODES.items():
        called = facts(logs[name])
        assert (called["program"], values(logs[name], "argument")) == (mode.program, mode.called_with), name
        assert (called["first process"], called["parent"]) == ("tini", "1"), name
        assert (called["user"], called["id"]) == ("spark", str(mode.run_as.get("runAsUser") or 185)), name
    assert values(logs["decommission"], "event") == ["started", "ended", "returned"]
