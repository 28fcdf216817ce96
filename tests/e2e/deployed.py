"""Applications of these tests on the cluster: rendered, applied, waited for, and looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.handle import Cluster
from cluster.images import REPOSITORY
from cluster.runtime_image import CONFIGURED, REPOSITORY_WITH_ARCHIVE
from sparkgen import contract
from sparkgen.runtime.allocator.report.log_form import LogEntry, LogEvent, entries

GO = "/tmp/go"  # noqa: S108 - in the driver's container
"""The file that applications of these tests wait for, where they are told to."""

APPLICATIONS = Path(__file__).parent / "runtime" / "applications"
SMALL = {
    "cores": 1,
    "coreRequest": "100m",
    "memory": "600m",
}
"""A container's share of a small machine: nothing waits for CPU that nobody uses."""


@dataclass(frozen=True)
class Deployed:
    """An application on the cluster: what is asked of it is read again each time."""

    cluster: Cluster
    namespace: str
    name: str
    run: str

    def job(self) -> dict[str, Any]:
        """The driver's Job."""
        return dict(
            json.loads(self.cluster.kubectl("get", "job", self.run, "-n", self.namespace, "-o", "json"))
        )

    def finished(self) -> str:
        """How the Job ended: "Complete" or "Failed"; "" while it runs."""
        conditions = self.job().get("status", {}).get("conditions", [])
        ended = [
            c["type"] for c in conditions if c["status"] == "True" and c["type"] in ("Complete", "Failed")
        ]
        return str(ended[0]) if ended else ""

    def wait(self, seconds: float = 240) -> str:
        """Wait until the Job has ended: "Complete" or "Failed"."""
        wait_until(lambda: bool(self.finished()), seconds, f"{self.name} has ended", self.story)
        return self.finished()

    def drivers(self) -> dict[str, dict[str, Any]]:
        """The drivers' pods that are there, by UID."""
        selector = f"sparkgen.dev/application={self.name},spark-role=driver"
        return {pod["metadata"]["uid"]: pod for pod in self.cluster.objects("pods", self.namespace, selector)}

    def has_driver(self) -> bool:
        """Whether the driver's pod is there."""
        return bool(self.drivers())

    def driver(self) -> dict[str, Any]:
        """The driver's pod, the newest one."""
        return max(self.drivers().values(), key=lambda pod: str(pod["metadata"]["creationTimestamp"]))

    def executors(self, *phases: str) -> list[dict[str, Any]]:
        """The executors' pods, of all phases or of these; those being deleted count only without `phases`."""
        selector = f"sparkgen.dev/application={self.name},spark-role=executor"
        pods = self.cluster.objects("pods", self.namespace, selector)
        there = [pod for pod in pods if pod["status"].get("phase") in phases and not leaving(pod)]
        return there if phases else pods

    def logs(self, container: str = "spark-kubernetes-driver", *options: str) -> str:
        """What a container of the driver's pod has written; "" while there is no such pod."""
        if not self.has_driver():
            return ""
        name = self.driver()["metadata"]["name"]
        return self.cluster.try_kubectl("logs", "-n", self.namespace, name, "-c", container, *options).stdout

    def allocator_log(self) -> list[LogEntry]:
        """The lines of the allocator's log as values."""
        return list(entries(self.logs(contract.ALLOCATOR_CONTAINER)))

    def decisions(self) -> list[LogEntry]:
        """Those of them that are about a decision."""
        return [entry for entry in self.allocator_log() if entry.event == LogEvent.DECISION]

    def registered(self) -> list[tuple[int, int | None]]:
        """How many executors Spark knew at each decision, and of how many that were wanted."""
        return [
            (sum(states.get("registered", 0) for states in entry.facts["counts"].values()), entry.wanted)
            for entry in self.decisions()
        ]

    def losses(self, code: str = "") -> list[LogEntry]:
        """The executors that the allocator's log calls gone, all or those of a code."""
        lost = [entry for entry in self.allocator_log() if entry.event == LogEvent.LOSS]
        return [entry for entry in lost if code in ("", entry.facts["code"])]

    def touch(self, path: str) -> None:
        """Make a file in the driver's container: applications of these tests wait for one."""
        name = self.driver()["metadata"]["name"]
        container = ("-c", "spark-kubernetes-driver")
        self.cluster.kubectl("exec", "-n", self.namespace, name, *container, "--", "touch", path)

    def events(self) -> list[dict[str, Any]]:
        """The Events about the driver's pod."""
        name = self.driver()["metadata"]["name"]
        return [
            event
            for event in self.cluster.objects("events", self.namespace)
            if event["involvedObject"].get("name") == name
        ]

    def story(self) -> str:
        """All that helps to understand a failure."""
        parts = [self.cluster.kubectl("get", "pods,jobs", "-n", self.namespace, "-o", "wide")]
        try:
            parts += [
                f"--- allocator\n{self.logs('allocator')[-6000:]}",
                f"--- driver\n{self.logs()[-4000:]}",
            ]
        except ValueError:
            parts.append("there is no driver")
        return "\n".join(parts)


def leaving(pod: Mapping[str, Any]) -> bool:
    """Whether a pod is being deleted."""
    return "deletionTimestamp" in pod["metadata"]


def wait_until(
    condition: Callable[[], bool], seconds: float, what: str, story: Callable[[], str] = lambda: ""
) -> None:
    """Wait; the test fails with `story` when it takes too long."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not after {seconds:.0f} s: {what}\n{story()}")
        time.sleep(0.5)


def allow_pods(cluster: Cluster, namespace: str, count: int) -> None:
    """Apply the ResourceQuota `few`, and wait until the API server holds to it.

    A quota that it has not seen yet, as for some seconds after its own start, refuses nothing. So the quota
    refuses claims as well, and one is tried until it is refused.
    """
    hard = {"pods": str(count), "persistentvolumeclaims": "0"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": hard}}
    cluster.apply({**quota, "metadata": {"name": "few", "namespace": namespace}})
    size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "one"}, "spec": size}
    trial = ("create", "--dry-run=server", "-n", namespace, "-f", "-")

    def refused() -> bool:
        return "exceeded quota" in cluster.try_kubectl(*trial, input_text=json.dumps(claim)).stderr

    wait_until(refused, 60, "the API server holds to the quota")


def spark_image(version: str) -> str:
    """The image of tests that are not about the image: one that starts soon, where the cluster is ours."""
    ours = not os.environ.get("KUBECONFIG")
    return f"{REPOSITORY_WITH_ARCHIVE if ours else REPOSITORY}:{version}"


def document(name: str, version: str, script: str, *arguments: str, **spec: Any) -> dict[str, Any]:
    """A small PySpark application that runs a script of these tests."""
    dynamic = "dynamicAllocation" in spec
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": name},
        "spec": {
            "type": "Python",
            "sparkVersion": version,
            "image": spark_image(version),
            "imagePullPolicy": "IfNotPresent",
            "mainApplicationFile": f"local:///opt/applications/{script}",
            "arguments": list(arguments),
            **spec,
            "driver": {
                **SMALL,
                "configMaps": [{"name": "applications", "path": "/opt/applications"}],
                **spec.get("driver", {}),
            },
            "executor": {**SMALL, **({} if dynamic else {"instances": 2}), **spec.get("executor", {})},
        },
    }


def render(source: Path | Mapping[str, Any], namespace: str, *options: str, folder: Path = CONFIGURED) -> str:
    """The manifests, as the command line prints them in a folder."""
    command = [str(Path(sys.executable).with_name("sparkgen")), "render", "-q"]
    text = None if isinstance(source, Path) else yaml.safe_dump(dict(source))
    command += [str(source.absolute()) if isinstance(source, Path) else "-", *options]
    command += ["--set", f"metadata.namespace={namespace}"]
    done = subprocess.run(command, input=text, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def deploy(
    cluster: Cluster,
    namespace: str,
    source: Path | Mapping[str, Any],
    *options: str,
    change: Callable[[str], str] = str,
) -> Deployed:
    """Render an application and apply it, as a person does: `sparkgen render ... | kubectl apply -f -`.

    `change` has the manifests first: what a test holds back, or changes as a person would by kustomize.
    """
    manifests = change(render(source, namespace, *options))
    scripts = {path.name: path.read_text() for path in APPLICATIONS.glob("*.py")}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "applications", "namespace": namespace},
            "data": scripts,
        }
    )
    cluster.kubectl("apply", "-f", "-", input_text=manifests)
    objects = list(yaml.safe_load_all(manifests))
    workload = next(item for item in objects if item["kind"] in ("Job", "CronJob", "Deployment"))
    template = workload["spec"].get("template") or workload["spec"]["jobTemplate"]["spec"]["template"]
    labels = template["metadata"]["labels"]
    return Deployed(cluster, namespace, labels["sparkgen.dev/application"], labels["sparkgen.dev/run"])
