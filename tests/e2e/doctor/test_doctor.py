"""`sparkgen doctor` on a real cluster: where all works, where little does, and where doctors are killed."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from deployed import allow_pods, spark_image, wait_until

from cluster import images
from cluster.handle import Cluster
from sparkgen import contract
from sparkgen.diff.live import KINDS
from tests.e2e.commands import acting

VERSION = images.TESTED_VERSIONS[0]
WITH_IMAGE = (
    *("--image", spark_image(VERSION), "--spark-version", VERSION),
    *("--runtime-image", contract.RUNTIME_IMAGE),
)
NOT_OURS = ("kube-root-ca.crt", "default", "few", "somebody")
"""The names of objects that the namespace, or a test, has."""


def words(cluster: Cluster, namespace: str, *options: str, kubeconfig: Path | None = None) -> list[str]:
    """The command line of a doctor with the images of these tests."""
    return acting.command(cluster, namespace, "doctor", *WITH_IMAGE, *options, kubeconfig=kubeconfig)


def doctor(
    cluster: Cluster, namespace: str, *options: str, kubeconfig: Path | None = None
) -> tuple[int, dict[str, dict[str, Any]]]:
    """Run a doctor. Returns its exit code, and its rows by check."""
    command = words(cluster, namespace, *options, "-o", "json", kubeconfig=kubeconfig)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    assert done.stdout, done.stderr
    return done.returncode, {row["check"]: row for row in json.loads(done.stdout)["checks"]}


def verdicts(rows: dict[str, dict[str, Any]], verdict: str) -> list[str]:
    """The checks with a verdict."""
    return [check for check, row in rows.items() if row["verdict"] == verdict]


def left(cluster: Cluster, namespace: str) -> list[str]:
    """What a doctor has left in a namespace."""
    kinds = ["pods", "secrets", "serviceaccounts", "configmaps", "roles", "rolebindings", "jobs"]
    found = [
        (kind, item) for kind in (*kinds, "networkpolicies") for item in cluster.objects(kind, namespace)
    ]
    named = [(kind, item["metadata"]["name"]) for kind, item in found]
    return [f"{kind}/{name}" for kind, name in named if name not in NOT_OURS]


def started(cluster: Cluster, namespace: str, until: str) -> subprocess.Popen[str]:
    """A doctor that has printed a row, and goes on."""
    command = ["env", "--default-signal=INT", *words(cluster, namespace)]
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert any(f" {until} " in line for line in process.stdout), process.communicate()
    return process


def test_a_namespace_in_which_all_works(cluster: Cluster, restricted: str) -> None:
    """Every row, on a namespace of the level "restricted"; the network of this cluster has no policies."""
    assert {kind for _, kind in KINDS} >= {"Job", "NetworkPolicy"}
    code, rows = doctor(cluster, restricted)
    assert code == 0, rows
    assert verdicts(rows, "warns") == (
        ["storage", "network-policy"] if cluster.own else verdicts(rows, "warns")
    )
    assert [*verdicts(rows, "fails"), *verdicts(rows, "skipped")] == []
    assert rows["moved"]["found"].split(" cached")[0] in ("1 of 1", "2 of 2", "3 of 3", "4 of 4")
    assert " was killed; " in rows["replaced"]["found"]
    assert left(cluster, restricted) == []


def test_a_namespace_in_which_little_works(cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """A quota without room, and somebody without rights: said at once, and nothing is started."""
    allow_pods(cluster, restricted, 0)
    code, rows = doctor(cluster, restricted)
    assert (code, verdicts(rows, "fails")) == (1, ["quota"])
    assert rows["quota"]["found"].startswith("the quota has no room for the driver; pods: 3 needed, 0 of 0")
    assert rows["pod-security"]["found"].startswith('the namespace enforces "restricted"')
    reader = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "list"]}
    code, rows = doctor(cluster, restricted, kubeconfig=acting.account(cluster, restricted, tmp_path, reader))
    assert code == 1
    assert "rights" in verdicts(rows, "fails")
    assert "create, patch, delete jobs.batch" in rows["rights"]["ask"]
    assert verdicts(rows, "unknown") == [
        *("namespace", "pod-security", "quota", "limit-ranges", "nodes", "storage")
    ]
    assert rows["pi"]["found"] == "not tried, because of: rights"
    assert left(cluster, restricted) == []


@pytest.mark.full
def test_conformance(cluster: Cluster, restricted: str) -> None:
    """The faults that are safe anywhere, on the newest Spark, and all that comes without them."""
    newest = images.TESTED_VERSIONS[-1]
    other = ("--image", spark_image(newest), "--spark-version", newest)
    code, rows = doctor(cluster, restricted, *other, "--conformance")
    assert code == 0, rows
    assert [*verdicts(rows, "fails"), *verdicts(rows, "skipped"), *verdicts(rows, "unknown")] == []
    assert rows["late-binding"]["found"].startswith("the allocator said which permission it lacks")
    assert rows["disk"]["found"].startswith("an executor that used too much disk was evicted")
    assert left(cluster, restricted) == []


@pytest.mark.full
def test_doctors_that_are_stopped(cluster: Cluster, restricted: str) -> None:
    """After Ctrl-C nothing is left; of one that is killed, nothing after the next one."""
    first = started(cluster, restricted, "executors")
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=60)
    assert (first.returncode, err) == (130, "sparkgen: interrupted\n")
    assert left(cluster, restricted) == []
    second = started(cluster, restricted, "images")
    second.kill()
    second.communicate()
    wait_until(lambda: bool(left(cluster, restricted)), 10, "the second one has left something")
    code, rows = doctor(cluster, restricted)
    assert code == 0, rows
    assert rows["cleanup"]["found"].endswith("; 1 Job of a doctor that was killed removed")
    wait_until(lambda: left(cluster, restricted) == [], 40, "the pods of the second one have ended")
