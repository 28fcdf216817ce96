"""The runs of the proof of `sparkgen whatif`: an application of bench/jobs/shapes.py, and its event log.

They are applied to the test cluster as a person does, and their logs lie on a claim.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import cluster as bench_cluster
from bench import programs
from bench.folders import ROOT
from cluster import cgroups
from cluster.handle import Cluster
from cluster.plan import LAYOUT, NAME, NODES
from cluster.runtime_image import REPOSITORY_WITH_ARCHIVE
from common.cachedir import ToolError
from common.command import wait_for

PROGRAM = ROOT / "tools" / "bench" / "jobs" / "shapes.py"
LONGEST = 900
"""Seconds that a run may take."""
MOUNTED, CLAIM = "/mnt/event-logs", "event-logs"
SMALL = {"cores": 1, "memory": "600m", "javaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""JVMs of a small machine: they start with as little of the processor as they can."""

HEAVIEST = {"cpu.shares": "262144", "cpu.weight": "10000"}
"""The most that a group of processes can weigh, in cgroup v1 and v2."""
DRIVER_SHARE, EXECUTOR_SHARE = {"coreLimit": "500m"}, {"coreLimit": "350m"}
"""Each pod has a share of the two cores of its own, as on a cluster with a core for each: without it, the
more executors start together, the longer each of them takes, which no log can tell."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs applications. `logs`: the claim's directory, as this machine sees it."""

    cluster: Cluster
    namespace: str
    version: str
    logs: Path

    def run(self, name: str, arguments: Sequence[str], sets: Sequence[str], folder: Path) -> Path:
        """Run the program with these arguments under a configuration: its event log, in `folder`.

        ToolError, or that of a command, when the application fails.
        """
        role = {**SMALL, "coreRequest": "100m"}
        app = programs.application(
            *(self.namespace, self.version, programs.in_driver(PROGRAM), name),
            arguments=list(arguments),
            sparkConf={"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "8"},
            image=f"{REPOSITORY_WITH_ARCHIVE}:{self.version}",
            imagePullPolicy="IfNotPresent",
            eventLog={"dir": f"file://{MOUNTED}", "claim": CLAIM},
            driver={**role, **DRIVER_SHARE, "configMaps": [programs.MOUNT]},
            executor={**role, **EXECUTOR_SHARE},
        )
        programs.apply_rendered(self.cluster, app, sets)
        try:
            self._wait(name)
            return self._taken(folder)
        finally:
            self.cluster.kubectl("delete", "jobs", "-n", self.namespace, "--all", "--wait=true")

    def _wait(self, name: str) -> None:
        """Until the driver has succeeded; ToolError when it has not."""
        selector = f"sparkgen.dev/application={name},spark-role=driver"

        def phases() -> set[str]:
            pods = self.cluster.objects("pods", self.namespace, selector)
            return {pod["status"].get("phase", "") for pod in pods} & {"Succeeded", "Failed"}

        if wait_for(phases, LONGEST, pause=1.0) != {"Succeeded"}:
            said = self.cluster.try_kubectl(
                "logs", "-n", self.namespace, "-l", selector, "--all-containers", "--tail=40"
            )
            raise ToolError(f"{name} did not succeed:\n{said.stdout}{said.stderr}")

    def _taken(self, folder: Path) -> Path:
        """The one log that is there, taken along."""
        (log,) = self.logs.iterdir()
        target = folder / "logs" / log.name
        shutil.copytree(log, target)
        shutil.rmtree(log)
        return target


@contextmanager
def on_cluster(version: str) -> Iterator[Runner]:
    """The test cluster with what these applications need: a namespace, their program, and a claim."""
    name = f"whatif-{uuid.uuid4().hex[:8]}"
    with bench_cluster.held("make whatif-proof", version) as cluster:
        cluster.load_spark_with_archive([version])
        logs = LAYOUT.node(NODES[0]) / "mnt" / name
        logs.mkdir()
        try:
            cluster.kubectl("create", "namespace", name)
            _claim(cluster, name)
            programs.put(cluster, name, PROGRAM)
            with _pods_first():
                yield Runner(cluster, name, version, logs)
        finally:
            cluster.kubectl("delete", "namespace", name, seconds=180)
            cluster.kubectl("delete", "pv", name, "--ignore-not-found")
            shutil.rmtree(logs)


@contextmanager
def _pods_first() -> Iterator[None]:
    """Pods get their share of the processors before the machine's other work, whatever that is."""
    with ExitStack() as stack:
        for folder in cgroups.hierarchies():
            for name, most in HEAVIEST.items():
                weight = folder / NAME / name
                if weight.exists():
                    stack.callback(weight.write_text, weight.read_text())
                    weight.write_text(most)
        yield


def _claim(cluster: Cluster, name: str) -> None:
    """A claim on a directory of the first node."""
    shared: dict[str, Any] = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    node = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODES[0].name]}
    volume = {
        **shared,
        "capacity": {"storage": "1Gi"},
        "persistentVolumeReclaimPolicy": "Retain",
        "local": {"path": f"/mnt/{name}"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [node]}]}},
    }
    claimed = {**shared, "volumeName": name, "resources": {"requests": {"storage": "1Gi"}}}
    cluster.apply(
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": volume},
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": CLAIM, "namespace": name},
            "spec": claimed,
        },
    )
