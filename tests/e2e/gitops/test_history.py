"""The Job that removes ended runs, on a real API server with its real rights. No Spark runs here."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from deployed import document, render, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen import contract

ENDS = {
    "succeeded": ["sparkgen-runtime", "version"],
    "failed": ["sparkgen-runtime", "no-such-command"],
    "running": ["python3", "-c", "import time; time.sleep(900)"],
}
"""Commands of the runtime image, which is on the nodes: Jobs that end so."""
ARGO = {"argocd.argoproj.io/sync-options": "Prune=false"}
SECURITY = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def earlier_run(namespace: str, run: str, end: str) -> list[dict[str, Any]]:
    """The objects that an earlier run left: its Job, which ends as `end` says, and a ConfigMap."""
    labels = {contract.LABEL_APPLICATION: "report", contract.LABEL_RUN: run}
    metadata = {"namespace": namespace, "labels": labels, "annotations": ARGO}
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {"name": "x", "image": contract.RUNTIME_IMAGE, "command": ENDS[end], "securityContext": SECURITY}
        ],
    }
    return [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": run, **metadata},
            "spec": {"backoffLimit": 0, "template": {"spec": pod}},
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{run}-conf", **metadata}},
    ]


def names(cluster: Cluster, namespace: str, kind: str) -> list[str]:
    """The names of the application's objects that belong to runs."""
    found = cluster.objects(kind, namespace, f"{contract.LABEL_APPLICATION}=report,{contract.LABEL_RUN}")
    return sorted(item["metadata"]["name"] for item in found)


def ended(cluster: Cluster, namespace: str, name: str) -> str:
    """How a Job has ended; "" while it has not."""
    (job,) = [one for one in cluster.objects("jobs", namespace) if one["metadata"]["name"] == name]
    conditions = job.get("status", {}).get("conditions", [])
    true = [one["type"] for one in conditions if one["status"] == "True"]
    return next((kind for kind in true if kind in ("Complete", "Failed")), "")


@pytest.fixture
def runs(cluster: Cluster, restricted: str) -> str:
    """A namespace with four earlier runs: two that succeeded, one that failed, one that still runs.

    That one comes first: a run that was created in the same second as the history Job is not an earlier one.
    """
    for run, end in (("d", "running"), ("a", "succeeded"), ("b", "failed"), ("c", "succeeded")):
        cluster.apply(*earlier_run(restricted, f"report-{run}", end))
        if end != "running":
            wait_until(lambda run=run: ended(cluster, restricted, f"report-{run}") != "", 60, f"{run} ends")
    return restricted


def test_ended_runs_beyond_history_go(cluster: Cluster, runs: str) -> None:
    """Applied as rendered, it deletes and marks what it should, and has no right beyond that."""
    value = document("report", TESTED_VERSIONS[0], "hold.py", run={"history": {"succeeded": 1, "failed": 1}})
    manifests = [*yaml.safe_load_all(render(value, runs, "--target", "argocd"))]
    rendered = [item for item in manifests if item["metadata"]["labels"].get(contract.LABEL_COMPONENT)]
    (job,) = [item["metadata"]["name"] for item in rendered if item["kind"] == "Job"]
    cluster.apply(*rendered)
    wait_until(lambda: ended(cluster, runs, job) != "", 90, "the history Job has ended")
    log = cluster.kubectl("logs", "-n", runs, f"job/{job}")
    assert ended(cluster, runs, job) == "Complete", log
    assert names(cluster, runs, "jobs") == ["report-b", "report-c", "report-d"], log
    assert names(cluster, runs, "configmaps") == ["report-b-conf", "report-c-conf", "report-d-conf"], log
    for one in cluster.objects("jobs", runs, contract.LABEL_RUN):
        assert one["metadata"]["annotations"]["argocd.argoproj.io/ignore-healthcheck"] == "true"
    assert ended(cluster, runs, "report-d") == "", "the driver that runs is left alone"

    account = f"system:serviceaccount:{runs}:report-history"
    for right in ("get secrets", "list secrets", "create pods", "create jobs", "get configmaps", "list pods"):
        asked = cluster.try_kubectl("auth", "can-i", *right.split(), "-n", runs, f"--as={account}")
        assert asked.stdout.strip() == "no", right
