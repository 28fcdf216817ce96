"""The anchor: stock Spark with its own Kubernetes scheduler runs on the cluster."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS

SPREAD = {
    "spec": {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "nodeTaintsPolicy": "Honor",
                "labelSelector": {"matchLabels": {"spark-role": "executor"}},
            }
        ]
    }
}
"""An executor's pod template: one executor on each node."""


def settings(namespace: str, image: str) -> dict[str, str]:
    """Spark's properties of a small application with two executors that stay to be looked at."""
    return {
        "spark.kubernetes.namespace": namespace,
        "spark.kubernetes.container.image": image,
        "spark.kubernetes.authenticate.driver.serviceAccountName": "spark",
        "spark.kubernetes.driver.request.cores": "100m",
        "spark.kubernetes.executor.request.cores": "100m",
        "spark.kubernetes.executor.podTemplateFile": "/submit/executor.json",
        "spark.kubernetes.executor.deleteOnTermination": "false",
        "spark.kubernetes.submission.waitAppCompletion": "false",
        "spark.driver.memory": "600m",
        "spark.executor.memory": "600m",
        "spark.executor.instances": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    }


EXPORTED = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {name: pi, namespace: @NAMESPACE@}
spec:
  type: Python
  sparkVersion: "@VERSION@"
  image: @IMAGE@
  runtimeImage: registry.example.com/runtime:1
  mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
  arguments: ["4"]
  volumes: [{name: scratch, emptyDir: {}}]
  driver:
    coreRequest: 100m
    memory: 600m
    serviceAccount: spark
    env: [{name: WORD, value: "two words"}]
  executor:
    instances: 1
    coreRequest: 100m
    memory: 600m
    labels: {exported: "yes"}
    volumeMounts: [{name: scratch, mountPath: /scratch}]
"""


def exported(namespace: str, version: str, folder: Path) -> dict[str, str]:
    """The script and the templates of a document, by file name."""
    values = {"NAMESPACE": namespace, "VERSION": version, "IMAGE": f"{REPOSITORY}:{version}"}
    text = EXPORTED
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    (folder / "app.yaml").write_text(text, "utf-8")
    command = [str(Path(sys.executable).with_name("sparkgen")), "export", "app.yaml", "--to", "spark-submit"]
    subprocess.run([*command, "-o", "out"], cwd=folder, check=False, capture_output=True, timeout=60)
    return {path.name: path.read_text("utf-8") for path in (folder / "out").iterdir()}


def submit(cluster: Cluster, namespace: str, image: str, application: str, *arguments: str) -> None:
    """Submit from a pod, as on any cluster: its service account creates the driver."""
    options = [f"--conf={name}={value}" for name, value in settings(namespace, image).items()]
    command = [
        *("/opt/spark/bin/spark-submit", "--master=k8s://https://kubernetes.default.svc"),
        *("--deploy-mode=cluster", "--name=pi", *options, *arguments[:-1], application, arguments[-1]),
    ]
    _submit(cluster, namespace, image, command, {"executor.json": json.dumps(SPREAD)})


def _submit(cluster: Cluster, namespace: str, image: str, command: list[str], files: dict[str, str]) -> None:
    """Run a command in a pod, with the files of its folder /submit."""
    container = {
        "name": "submit",
        "image": image,
        "command": command,
        "volumeMounts": [{"name": "submit", "mountPath": "/submit"}],
    }
    cluster.apply(
        _object("ServiceAccount", "spark", namespace),
        _object(
            "RoleBinding",
            "spark",
            namespace,
            apiVersion="rbac.authorization.k8s.io/v1",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
            subjects=[{"kind": "ServiceAccount", "name": "spark", "namespace": namespace}],
        ),
        _object("ConfigMap", "submit", namespace, data=files),
        _object(
            "Pod",
            "submit",
            namespace,
            spec={
                "restartPolicy": "Never",
                "serviceAccountName": "spark",
                "containers": [container],
                "volumes": [{"name": "submit", "configMap": {"name": "submit"}}],
            },
        ),
    )


def _object(kind: str, name: str, namespace: str, **rest: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
    } | rest


def wait_for_driver(
    cluster: Cluster, namespace: str, seconds: float = 240, executors: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The driver's pod, once it has ended; the test fails with what is there when it does not.

    `executors`: gets the pods of executors that there were meanwhile, by name.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if executors is not None:
            pods = cluster.objects("pods", namespace, "spark-role=executor")
            executors.update({pod["metadata"]["name"]: pod for pod in pods})
        for pod in cluster.objects("pods", namespace, "spark-role=driver"):
            if pod["status"]["phase"] in ("Succeeded", "Failed"):
                return pod
        if cluster.objects("pods", namespace, "")[0]["status"]["phase"] == "Failed":
            break
        time.sleep(1)
    pods = cluster.kubectl("get", "pods,events", "-n", namespace, "-o", "wide")
    logs = cluster.try_kubectl("logs", "-n", namespace, "submit", "--tail=30").stdout
    pytest.fail(f"the driver has not ended:\n{pods}\n{logs}")


@pytest.mark.parametrize("version", TESTED_VERSIONS)
@pytest.mark.parametrize(
    ("application", "options"),
    [
        ("local:///opt/spark/examples/src/main/python/pi.py", []),
        (
            "local:///opt/spark/examples/jars/spark-examples.jar",
            ["--class=org.apache.spark.examples.SparkPi"],
        ),
    ],
    ids=["python", "scala"],
)
def test_native_spark_computes_pi_on_two_nodes(
    cluster: Cluster, namespace: str, version: str, application: str, options: list[str]
) -> None:
    """spark-submit in cluster mode: the driver succeeds, pi is right, one executor ran on each node."""
    cluster.load_spark([version])
    submit(cluster, namespace, f"{REPOSITORY}:{version}", application, *options, "4")
    driver = wait_for_driver(cluster, namespace)
    log = cluster.kubectl("logs", "-n", namespace, driver["metadata"]["name"])
    assert driver["status"]["phase"] == "Succeeded", log[-3000:]
    found = re.search(r"Pi is roughly (3\.\d+)", log)
    assert found, log[-3000:]
    assert abs(float(found[1]) - 3.14) < 0.05
    executors = cluster.objects("pods", namespace, "spark-role=executor")
    assert len({pod["spec"]["nodeName"] for pod in executors}) == 2
    assert len(executors) == 2
    if cluster.own:
        created = [
            call
            for call in cluster.calls(namespace, "spark")
            if (call.verb, call.resource, call.code) == ("create", "pods", 201)
        ]
        assert len(created) == 3, "a driver and two executors"


@pytest.mark.full
@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_an_exported_document_runs_with_spark_submit(
    cluster: Cluster, namespace: str, version: str, tmp_path: Path
) -> None:
    """What `sparkgen export` writes, submitted as its script says: pods as the document describes them."""
    cluster.load_spark([version])
    image = f"{REPOSITORY}:{version}"
    command = ["env", "MASTER=k8s://https://kubernetes.default.svc", "PATH=/opt/spark/bin:/usr/bin:/bin"]
    command += ["sh", "/submit/pi.sh"]
    _submit(cluster, namespace, image, command, exported(namespace, version, tmp_path))
    executors: dict[str, Any] = {}
    driver = wait_for_driver(cluster, namespace, executors=executors)
    log = cluster.kubectl("logs", "-n", namespace, driver["metadata"]["name"])
    assert driver["status"]["phase"] == "Succeeded", log[-3000:]
    assert "Pi is roughly 3." in log
    (container,) = driver["spec"]["containers"]
    assert {"name": "WORD", "value": "two words"} in container["env"]
    (executor,) = executors.values()
    assert executor["metadata"]["labels"]["exported"] == "yes"
    mounts = executor["spec"]["containers"][0]["volumeMounts"]
    assert {"name": "scratch", "mountPath": "/scratch"} in mounts
