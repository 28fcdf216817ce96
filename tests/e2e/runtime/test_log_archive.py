"""Logs that outlive their pods: of killed executors, of the allocator, and of a driver that failed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from deployed import APPLICATIONS, GO, Deployed, document, wait_until

from cluster import images
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from gotools import gotools

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from acting import Sparkgen, on

KEY, SECRET = "archive", "not-a-real-password"  # of the store of these tests alone
PORT = 9000


@pytest.fixture
def store(cluster: Cluster, restricted: str) -> Iterator[str]:
    """An object store with the bucket `logs`, and the Secret for it. Gives the address of its pod."""
    cluster.load_rclone()
    serve = f"mkdir -p /data/logs && exec rclone serve s3 --addr :{PORT} --auth-key {KEY},{SECRET} /data"
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "log-archive", "namespace": restricted},
            "stringData": {
                "credentials": f"[default]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "store", "namespace": restricted, "labels": {"app": "store"}},
            "spec": {
                "securityContext": {
                    "runAsUser": 1000,
                    "runAsNonRoot": True,
                    "fsGroup": 1000,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [
                    {
                        "name": "store",
                        "image": images.RCLONE,
                        "imagePullPolicy": "IfNotPresent",
                        "command": ["sh", "-c", serve],
                        "env": [{"name": "HOME", "value": "/data"}],
                        "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "capabilities": {"drop": ["ALL"]},
                        },
                        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                    }
                ],
                "volumes": [{"name": "data", "emptyDir": {}}],
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "store", "namespace": restricted},
            "spec": {"selector": {"app": "store"}, "ports": [{"port": PORT}]},
        },
    )
    cluster.kubectl(
        *("wait", "--for=condition=Ready", "pod/store", "-n", restricted, "--timeout=60s"), seconds=70
    )
    return cluster.kubectl("get", "pod", "store", "-n", restricted, "-o", "jsonpath={.status.podIP}")


@pytest.fixture
def sparkgen(
    cluster: Cluster, restricted: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Sparkgen:
    """The command, in a folder with the script, on a machine with rclone and the store's credentials."""
    shutil.copyfile(APPLICATIONS / "talks.py", tmp_path / "job.py")
    monkeypatch.setenv("PATH", f"{gotools.ensure('rclone').parent}{os.pathsep}{os.environ['PATH']}")
    host = f"[{store}]" if ":" in store else store
    monkeypatch.setenv("RCLONE_CONFIG_ARCHIVE_ENDPOINT", f"http://{host}:{PORT}")  # pods use its name
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    return on(cluster, restricted, tmp_path)


def applied(sparkgen: Sparkgen, cluster: Cluster, namespace: str, folder: Path, backend: str) -> Deployed:
    """The application, with its logs in the store."""
    archive = {
        "url": "s3://logs/spark",
        "endpoint": f"http://store.{namespace}.svc:{PORT}",
        "secretName": "log-archive",
        "image": images.RCLONE,
        "interval": "5s",
        "maxAge": "1d",
    }
    version = TESTED_VERSIONS[backend == "spark"]
    value = document("talks", version, "", GO, allocator=backend, logging={"archive": archive})
    value["spec"]["mainApplicationFile"] = "./job.py"
    del value["spec"]["driver"]["configMaps"]
    (folder / "app.yaml").write_text(yaml.safe_dump(value))
    said = sparkgen("apply", "app.yaml", "-q")
    assert said.returncode == 0, said.stderr
    (job,) = cluster.objects("jobs", namespace, "sparkgen.dev/application=talks")
    return Deployed(cluster, namespace, "talks", job["metadata"]["name"])


@pytest.mark.parametrize("backend", ["sparkgen", "spark"])
def test_logs_outlive_their_pods(
    backend: str, cluster: Cluster, restricted: str, sparkgen: Sparkgen, tmp_path: Path
) -> None:
    """An executor that was killed, and a driver that failed, have all their lines in the archive."""
    run = applied(sparkgen, cluster, restricted, tmp_path, backend)
    wait_until(lambda: "the driver works" in run.logs(), 240, "the driver works", run.story)
    victim = run.executors("Running")[0]["metadata"]
    number = victim["labels"]["spark-exec-id"]
    # As the kernel kills a container without memory: all of its processes, those that keep its log as well.
    in_it = ("exec", "-n", restricted, victim["name"], "-c", "spark-kubernetes-executor", "--")
    cluster.try_kubectl(*in_it, "sh", "-c", "kill -9 -1")

    def gone() -> bool:
        names = [pod["metadata"]["name"] for pod in run.executors("Running")]
        return victim["name"] not in names

    wait_until(gone, 60, "an executor is gone", run.story)
    run.touch(GO)
    assert run.wait() == "Failed"
    code = run.driver()["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"]
    assert code == 3
    cluster.kubectl("delete", "pods", "-n", restricted, "-l", "sparkgen.dev/application=talks", seconds=120)

    said = sparkgen("logs", "talks", "--archived")
    assert said.returncode == 0, said.stderr
    assert "the driver works" in said.stdout
    assert "these are its last words" in said.stdout
    told = sparkgen("logs", "talks", "--archived", "--executor", number, "--grep", "works").stdout
    assert set(told.split("\n")) & {f"task {task} works" for task in range(8)}, told
    every = sparkgen("logs", "talks", "--archived", "--all", "--since", "1h").stdout
    assert all(f"] task {task} works" in every for task in range(8)), every[-4000:]
    if backend == "sparkgen":
        allocator = sparkgen("logs", "talks", "--archived", "--allocator").stdout
        assert f"executor {number}" in allocator
        assert (
            f"sparkgen logs talks --archived --executor {number}"
            in sparkgen("logs", "talks", "--executor", number).stderr
        )
