"""Applications with `allocator: spark`: Spark's own backend creates executors, and no other image runs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import APPLICATIONS, GO, Deployed, allow_pods, document, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from acting import Sparkgen, on


def started(
    cluster: Cluster, namespace: str, folder: Path, version: str, **spec: Any
) -> tuple[Deployed, Sparkgen]:
    """An application that works in waves until it is told to end, from a script beside its document."""
    shutil.copyfile(APPLICATIONS / "rounds.py", folder / "job.py")
    value = document("waves", version, "", GO, allocator="spark", **spec)
    value["spec"]["mainApplicationFile"] = "./job.py"
    del value["spec"]["driver"]["configMaps"]
    (folder / "app.yaml").write_text(yaml.safe_dump(value))
    sparkgen = on(cluster, namespace, folder)
    applied = sparkgen("apply", "app.yaml", "-q")
    assert applied.returncode == 0, applied.stderr
    [job] = cluster.objects("jobs", namespace, "sparkgen.dev/application=waves")
    return Deployed(cluster, namespace, "waves", job["metadata"]["name"]), sparkgen


def names(application: Deployed) -> set[str]:
    """The executors that run."""
    return {pod["metadata"]["name"] for pod in application.executors("Running")}


@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_executors_are_created_and_replaced(
    version: str, cluster: Cluster, restricted: str, tmp_path: Path
) -> None:
    """Three executors start from the rendered template; a deleted one is replaced; `status` counts them."""
    application, sparkgen = started(cluster, restricted, tmp_path, version, executor={"instances": 3})
    wait_until(lambda: len(names(application)) == 3, 120, "three executors run", application.story)
    wait_until(lambda: "wave 1: 6" in application.logs(), 90, "it works", application.story)
    images = {box["image"] for pod in application.executors() for box in pod["spec"]["containers"]}
    driver = application.driver()["spec"]
    assert images == {box["image"] for box in driver["containers"]}
    assert "initContainers" not in driver
    first = names(application)
    cluster.kubectl("delete", "pod", "-n", restricted, min(first), "--wait=false")
    wait_until(lambda: len(names(application) - first) == 1, 90, "it is replaced", application.story)
    shown = sparkgen("status", "waves")
    assert "3/3" in shown.stdout, shown.stdout + shown.stderr
    assert "wave 1: 6" in sparkgen("logs", "waves").stdout
    application.touch(GO)
    assert application.wait(60) == "Complete", application.story()
    wait_until(lambda: not application.executors(), 60, "the executors are gone", application.story)
    assert "Forbidden" not in application.logs()


def test_executors_come_and_go_and_a_kill_ends_them(
    cluster: Cluster, restricted: str, tmp_path: Path
) -> None:
    """With dynamic allocation, idle executors go and others come; a kill leaves no executor."""
    bounds = {"enabled": True, "minExecutors": 0, "maxExecutors": 2, "executorIdleTimeout": "1s"}
    application, sparkgen = started(
        cluster, restricted, tmp_path, TESTED_VERSIONS[0], dynamicAllocation=bounds
    )
    wait_until(lambda: bool(names(application)), 120, "an executor runs", application.story)
    first = names(application)
    wait_until(lambda: not names(application) & first, 90, "it is idle and goes", application.story)
    wait_until(lambda: bool(names(application) - first), 90, "another one comes", application.story)
    assert sparkgen("kill", "waves", "--yes").returncode == 0
    wait_until(lambda: not application.executors(), 90, "no executor is left", application.story)


@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_status_says_why_executors_are_refused(
    version: str, cluster: Cluster, restricted: str, tmp_path: Path
) -> None:
    """Spark logs what the API server says, and tries again each second; Spark 4.3 soon ends the program."""
    allow_pods(cluster, restricted, 2)
    application, sparkgen = started(cluster, restricted, tmp_path, version)

    def says_why() -> bool:
        shown = sparkgen("status", "waves").stdout
        return "1/2" in shown and "requested: pods=1, used: pods=2, limited: pods=2" in shown

    wait_until(says_why, 120, "status says why an executor is refused", application.story)
