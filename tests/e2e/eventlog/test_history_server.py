"""An application that is over, and a history server that shows it: the two examples, on a claim."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from deployed import deploy, render, wait_until

from cluster import network
from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from cluster.plan import LAYOUT, NAME, NODES
from sparkgen.eventlog import read_recording
from sparkgen.spark_versions import scala_line

Helm = Callable[..., subprocess.CompletedProcess[str]]

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CLAIM = "event-logs"
APPLICATION = {
    "driver.coreRequest": "100m",
    "executor.coreRequest": "100m",
    "driver.memory": "600m",
    "executor.memory": "600m",
    "executor.instances": "1",
}
SERVER = {"memory": "512m", "resources.requests.cpu": "100m"}


@pytest.fixture
def restricted(cluster: Cluster, namespace: str) -> str:
    """A namespace that lets in only what Pod Security's level "restricted" allows."""
    cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    return namespace


@pytest.fixture
def claim(cluster: Cluster, restricted: str) -> Iterator[Path]:
    """A claim on a directory of one node that belongs to root, as a new volume does; the directory."""
    name = f"event-logs-{uuid.uuid4().hex[:8]}"
    folder = LAYOUT.node(NODES[0]) / "mnt" / name
    folder.mkdir()
    size = {"storage": "1Gi"}
    node = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODES[0].name]}
    shared: dict[str, Any] = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
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
    yield folder
    cluster.kubectl("delete", "pv", name, "--wait=false")
    shutil.rmtree(folder)


def settings(version: str, values: dict[str, str]) -> list[str]:
    """An example, with images that are here and a small machine's share."""
    given = {"image": f"{REPOSITORY}:{version}", "imagePullPolicy": "IfNotPresent", **values}
    return [
        *(f"--set=spec.{path}={value}" for path, value in given.items()),
        f"--set-string=spec.sparkVersion={version}",
    ]


def told(cluster: Cluster, namespace: str, path: str) -> Any:
    """What the server's REST API answers, through its Service; None while it does not."""
    url = f"/api/v1/namespaces/{namespace}/services/spark-history:18080/proxy/api/v1/{path}"
    done = cluster.try_kubectl("get", "--raw", url)
    return json.loads(done.stdout) if done.returncode == 0 else None


def event_log(cluster: Cluster, namespace: str, run: str, folder: Path) -> Path:
    """What `sparkgen history` gets of a run from the server."""
    file = folder / "log.zip"
    command = [*network.enter(NAME), sys.executable, "-m", "sparkgen", "history", run, "-n", namespace]
    options = [f"--kubeconfig={cluster.kubeconfig}", f"--event-log={file}"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return file


def serve(way: str, cluster: Cluster, helm: Helm, namespace: str, options: list[str]) -> None:
    """Bring the server there, rendered or by the chart: a document, two ways."""
    server = EXAMPLES / "history-server" / "app.yaml"
    if way == "render":
        cluster.kubectl("apply", "-f", "-", input_text=render(server, namespace, *options))
        return
    place = ("-n", namespace, f"--set=metadata.namespace={namespace}")
    done = helm("install", "history", "CHART", "-f", str(server), *place, *options)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.own_cluster
@pytest.mark.full
@pytest.mark.parametrize("helm", ["helm"], indirect=True)
@pytest.mark.parametrize(("version", "way"), zip(TESTED_VERSIONS, ("render", "chart"), strict=True))
def test_a_run_that_is_over_is_shown(
    version: str, way: str, cluster: Cluster, helm: Helm, restricted: str, claim: Path, tmp_path: Path
) -> None:
    """The driver writes its log, though the volume was root's; the server lists the run with its jobs.

    Without a cleaner the server can change nothing. One line of Spark has a rendered server, the other one
    the chart's.
    """
    cluster.load_runtime()
    cluster.load_spark((version,))
    serve(way, cluster, helm, restricted, settings(version, {**SERVER, "cleaner": "null"}))
    scala = {"scalaVersion": scala_line(version)}
    texts = [f"--set-string=spec.{name}={value}" for name, value in {**scala, "arguments[0]": "5"}.items()]
    example = EXAMPLES / "event-log" / "app.yaml"
    application = deploy(cluster, restricted, example, *settings(version, APPLICATION), *texts)
    assert application.wait(400) == "Complete", application.story()

    def story() -> str:
        logs = cluster.try_kubectl("logs", "-n", restricted, "deployment/spark-history", "--tail=40")
        return f"{application.story()}\n--- server\n{logs.stdout}{logs.stderr}"

    def shown() -> list[Any]:
        return [
            one for one in told(cluster, restricted, "applications") or [] if one["attempts"][0]["completed"]
        ]

    wait_until(lambda: bool(shown()), 180, "the history server lists the run", story)
    (run,) = shown()
    assert run["id"].startswith(application.run)
    assert {job["status"] for job in told(cluster, restricted, f"applications/{run['id']}/jobs")} == {
        "SUCCEEDED"
    }
    assert [path.name for path in claim.iterdir()] == [f"eventlog_v2_{run['id']}"]
    recording = read_recording(str(event_log(cluster, restricted, application.run, tmp_path)))
    assert (recording.application_id, recording.finished) == (run["id"], True)
    where = ("-n", restricted, "deployment/spark-history", "--", "touch", "/mnt/event-logs/new")
    assert "Read-only file system" in cluster.try_kubectl("exec", *where).stderr
