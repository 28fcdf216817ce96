"""Runs that do not overlap: one driver of an application at a time, in the order of their pods."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from deployed import APPLICATIONS, GO, Deployed, document, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from acting import Sparkgen, on

TURNS = "sparkgen.dev/turns"
WAITS = "another run of the application is active"


@pytest.fixture
def sparkgen(cluster: Cluster, restricted: str, tmp_path: Path) -> Iterator[Sparkgen]:
    """The command, in a folder with the script."""
    shutil.copyfile(APPLICATIONS / "rounds.py", tmp_path / "job.py")
    return on(cluster, restricted, tmp_path)


def applied(
    sparkgen: Sparkgen, cluster: Cluster, namespace: str, folder: Path, policy: str, number: int
) -> Deployed:
    """The run of this number, which works until it is told to end."""
    asked = {"concurrencyPolicy": policy, "run": {"id": str(number)}, "executor": {"instances": 1}}
    value = document("etl", TESTED_VERSIONS[number % 2], "", GO, **asked)
    value["spec"]["mainApplicationFile"] = "./job.py"
    del value["spec"]["driver"]["configMaps"]
    (folder / "app.yaml").write_text(yaml.safe_dump(value))
    before = {job["metadata"]["name"] for job in cluster.objects("jobs", namespace, "sparkgen.dev/run")}
    said = sparkgen("apply", "app.yaml", "-q")
    assert said.returncode == 0, said.stderr
    after = {job["metadata"]["name"] for job in cluster.objects("jobs", namespace, "sparkgen.dev/run")}
    (run,) = after - before
    return Run(cluster, namespace, "etl", run)


class Run(Deployed):
    """One of several runs of an application."""

    def drivers(self) -> dict[str, dict[str, object]]:
        """Those of this run alone."""
        label = f"sparkgen.dev/run={self.run},spark-role=driver"
        return {pod["metadata"]["uid"]: pod for pod in self.cluster.objects("pods", self.namespace, label)}

    def works(self) -> bool:
        """Whether its driver has got a result of an executor."""
        return "wave 1: 6" in self.logs()


def turns(cluster: Cluster, namespace: str) -> list[str]:
    """How often the application's turn has been taken, in each ConfigMap of that name."""
    found = [one["metadata"] for one in cluster.objects("configmaps", namespace)]
    return [one["annotations"][TURNS] for one in found if one["name"] == "etl-concurrency"]


def test_runs_do_not_overlap(cluster: Cluster, restricted: str, sparkgen: Sparkgen, tmp_path: Path) -> None:
    """With Forbid, the second run waits for the first. With Replace, the third ends the second."""
    first = applied(sparkgen, cluster, restricted, tmp_path, "Forbid", 0)
    wait_until(first.works, 120, "the first works", first.story)
    second = applied(sparkgen, cluster, restricted, tmp_path, "Forbid", 1)
    wait_until(lambda: "waiting for" in second.logs("concurrency"), 60, "the second waits", second.story)
    assert first.driver()["metadata"]["name"] in second.logs("concurrency")
    wait_until(lambda: WAITS in sparkgen("status", second.run).stdout, 30, "status says so")
    assert not second.logs()
    first.touch(GO)
    assert first.wait() == "Complete"
    wait_until(second.works, 120, "the second works", second.story)
    third = applied(sparkgen, cluster, restricted, tmp_path, "Replace", 2)
    assert second.wait() == "Failed"
    wait_until(third.works, 120, "the third works", third.story)
    assert f"the run {third.run} replaced it" in sparkgen("status", second.run).stdout
    assert turns(cluster, restricted) == ["3"]
    third.touch(GO)
    assert third.wait() == "Complete"
    assert sparkgen("delete", "etl", "--yes").returncode == 0
    assert not turns(cluster, restricted)
