"""Notebooks on the cluster: JupyterLab's kernels are drivers, one after another."""

from __future__ import annotations

import base64
import json
import secrets
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import SMALL, Deployed, deploy, spark_image, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import LAYOUT, NODES
from tests.e2e.commands.looking import status

pytestmark = pytest.mark.own_cluster
OLD, NEW = TESTED_VERSIONS
POD = Path(__file__).parent / "pod"
CLAIM = "home"
WORK = "/home/spark/work.ipynb"

BEGIN = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
"""
LOCAL = """
import cleaning
from pyspark import SparkFiles
cleaned = spark.sparkContext.parallelize([" de"]).map(cleaning.cleaned).collect()
print(cleaned, open(SparkFiles.get("countries.csv")).read().strip())
"""
SUM = BEGIN + "print('sum:', spark.range(1000).repartition(4).rdd.map(lambda row: row.id).sum())\n"


@dataclass(frozen=True)
class Notebook:
    """A notebook on the cluster, used from inside its pod."""

    application: Deployed
    token: str

    def call(self, *command: str, text: str | None = None) -> str:
        """What a command prints in the container of JupyterLab."""
        application = self.application
        name = application.driver()["metadata"]["name"]
        place = ("-i", "-n", application.namespace, name, "-c", "spark-kubernetes-driver", "--")
        done = application.cluster.try_kubectl("exec", *place, *command, input_text=text)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{application.story()}"
        return done.stdout

    def kernels(self, *arguments: str) -> str:
        """What the server's kernels answer: see kernels.py."""
        script = (POD / "kernels.py").read_text()
        return self.call("python3", "-", self.token, *arguments, text=script).strip()

    def executors(self) -> set[str]:
        """The names of the executors' pods."""
        return {pod["metadata"]["name"] for pod in self.application.executors()}

    def wait_until_ready(self) -> None:
        """Wait until JupyterLab answers."""
        wait_until(self._is_ready, 180, "JupyterLab answers", self.application.story)

    def _is_ready(self) -> bool:
        drivers = [
            pod for pod in self.application.drivers().values() if "deletionTimestamp" not in pod["metadata"]
        ]
        statuses = [one for pod in drivers for one in pod["status"].get("containerStatuses") or ()]
        return bool(statuses) and all(one["ready"] for one in statuses)


def start(
    cluster: Cluster, namespace: str, version: str, section: dict[str, Any], folder: Path, **spec: Any
) -> Notebook:
    """A small notebook of a version of Spark, when JupyterLab answers. `folder`: where its document is."""
    token = secrets.token_urlsafe(24)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ada", "namespace": namespace}}
    # As people make Secrets from a file: with a newline at the end.
    cluster.apply({**secret, "data": {"token": base64.b64encode(f"{token}\n".encode()).decode()}})
    document = {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkNotebook",
        "metadata": {"name": "ada"},
        "spec": {
            "sparkVersion": version,
            "image": cluster.load_notebook(version),
            "imagePullPolicy": "IfNotPresent",
            "notebook": {"token": {"name": "ada", "key": "token"}, **section},
            "driver": {**SMALL, "memory": "800m", "memoryOverhead": "1g"},
            **spec,
            "executor": {**SMALL, "image": spark_image(version), **spec.get("executor", {})},
        },
    }
    (folder / "ada.yaml").write_text(yaml.safe_dump(document))
    notebook = Notebook(deploy(cluster, namespace, folder / "ada.yaml"), token)
    notebook.wait_until_ready()
    return notebook


@pytest.fixture
def claim(cluster: Cluster, restricted: str) -> Iterator[str]:
    """A claim on a directory of one node that belongs to root, as a new volume does; its name."""
    name = f"home-{uuid.uuid4().hex[:8]}"
    folder = LAYOUT.node(NODES[0]) / "mnt" / name
    folder.mkdir()
    size = {"storage": "1Gi"}
    node = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODES[0].name]}
    shared: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    volume = {
        **shared,
        "capacity": size,
        "persistentVolumeReclaimPolicy": "Retain",
        "local": {"path": f"/mnt/{name}"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [node]}]}},
    }
    claimed = {**shared, "volumeName": name, "resources": {"requests": size}}
    kind = {"apiVersion": "v1", "kind": "PersistentVolume"}
    cluster.apply({**kind, "metadata": {"name": name}, "spec": volume})
    kind["kind"] += "Claim"
    cluster.apply({**kind, "metadata": {"name": CLAIM, "namespace": restricted}, "spec": claimed})
    yield CLAIM
    cluster.kubectl("delete", "pv", name, "--wait=false")
    shutil.rmtree(folder)


def cells(*sources: str) -> str:
    """A notebook with these cells, as a file has it."""
    made = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{index}",
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for index, source in enumerate(sources)
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def outputs(notebook: str) -> str:
    """What the cells of an executed notebook have printed."""
    return "".join(
        "".join(output.get("text", ()))
        for cell in json.loads(notebook)["cells"]
        for output in cell["outputs"]
        if output.get("name") == "stdout"
    )


def test_a_notebook_is_executed_and_survives_its_pod(
    cluster: Cluster, restricted: str, claim: str, tmp_path: Path
) -> None:
    """`jupyter execute` finds Spark by itself; executors go with its kernel, and the file stays on the claim.

    Kernel and executors import the module beside the document, from a ConfigMap. JupyterLab lets nobody in
    without the token, which nothing shows.
    """
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "cleaning.py").write_text("def cleaned(text):\n    return text.strip().upper()\n")
    (tmp_path / "countries.csv").write_text("de,Germany\n")
    notebook = start(
        cluster,
        restricted,
        NEW,
        {"claim": claim},
        tmp_path,
        deps={"pyFiles": ["./lib"], "files": ["./countries.csv"]},
        dynamicAllocation={"enabled": False},
        executor={"instances": 1},
    )
    application = notebook.application
    assert status(cluster, restricted)["ada"]["state"] == "Running"
    notebook.call("tee", WORK, text=cells(BEGIN, SUM, "print(spark.sparkContext.master)", LOCAL))
    notebook.call("jupyter", "execute", "--inplace", WORK)
    assert outputs(notebook.call("cat", WORK)).splitlines() == [
        "sum: 499500",
        "sparkgen://127.0.0.1:7090",
        "['DE'] de,Germany",
    ]
    wait_until(lambda: not notebook.executors(), 90, "no executor is left", application.story)

    assert notebook.kernels("start")
    with pytest.raises(AssertionError, match="HTTP Error 403: Forbidden"):
        replace(notebook, token="wrong").kernels("start")  # noqa: S106 - no secret
    said = application.logs() + application.logs("allocator") + application.logs("install")
    assert notebook.token not in said
    assert notebook.token not in cluster.kubectl("get", "all,configmaps", "-n", restricted, "-o", "yaml")

    before = application.driver()["metadata"]["uid"]
    cluster.kubectl("delete", "pod", application.driver()["metadata"]["name"], "-n", restricted)
    wait_until(lambda: before not in application.drivers(), 60, "the pod is gone", application.story)
    wait_until(application.has_driver, 60, "there is another pod", application.story)
    notebook.wait_until_ready()
    assert "sum: 499500" in outputs(notebook.call("cat", WORK))


@pytest.mark.full
@pytest.mark.parametrize("version", [OLD, NEW])
def test_kernels_come_and_go(version: str, cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """One at a time has Spark, and another is told which; its executors go when it is restarted or killed."""
    notebook = start(
        *(cluster, restricted, version, {}, tmp_path),
        dynamicAllocation={"enabled": False},
        executor={"instances": 1},
    )
    story = notebook.application.story
    first, second = (notebook.kernels("start") for _ in range(2))
    assert notebook.kernels("run", first, SUM) == "sum: 499500", story()
    of_first = notebook.executors()
    assert len(of_first) == 1

    told = notebook.kernels("run", second, SUM)
    assert "another driver has been using this session" in told + notebook.application.logs(), story()
    assert notebook.kernels("run", first, SUM) == "sum: 499500", story()
    assert notebook.executors() == of_first

    notebook.kernels("restart", first)
    wait_until(lambda: not notebook.executors() & of_first, 90, "its executors are gone", story)
    assert notebook.kernels("run", first, SUM) == "sum: 499500", story()
    of_next = notebook.executors()
    assert len(of_next - of_first) == 1

    killed = notebook.kernels("run", first, "import os\nprint(os.getpid())")
    notebook.call("kill", "-9", killed)
    wait_until(lambda: not notebook.executors() & of_next, 120, "its executors are gone", story)
    notebook.kernels("restart", second)
    assert notebook.kernels("run", second, SUM) == "sum: 499500", story()
    notebook.kernels("end", second)
    wait_until(lambda: not notebook.executors(), 120, "no executor is left", story)
    assert len(notebook.application.drivers()) == 1


@pytest.mark.full
def test_idle_kernels_end(cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """With them go executors that hold data, which Spark keeps forever."""
    notebook = start(
        *(cluster, restricted, NEW, {"kernelIdleTimeout": "15s"}, tmp_path),
        dynamicAllocation={"maxExecutors": 1},
    )
    story = notebook.application.story
    kernel = notebook.kernels("start")
    cached = BEGIN + "data = spark.range(1000).cache()\nprint('count:', data.count())\n"
    assert notebook.kernels("run", kernel, cached) == "count: 1000", story()
    assert notebook.executors(), story()
    wait_until(lambda: not notebook.executors(), 120, "no executor is left", story)
