"""Runs from programs on the cluster: however often a program dies, each ID has one run, and it is whole."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from acting import on, scripts, write

RUNS, DEATHS = 200, 10
PROGRAM = Path(__file__).with_name("starts_runs.py")
NOWHERE = {"kubernetes.io/hostname": "nowhere"}
"""No node has it: two hundred drivers would need two hundred JVMs."""


@pytest.mark.full
def test_a_program_that_dies_ten_times_starts_each_run_once(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """It is killed after a random time, and begins from the start; at last it ends by itself."""
    write(tmp_path, "waits.py", "nothing", "", "0", suspend=True, driver={"nodeSelector": NOWHERE})
    assert on(cluster, namespace, tmp_path)("apply", "app.yaml", "--skip-preflight").returncode == 0
    prefix = network.enter(NAME) if cluster.own else []
    command = [*prefix, sys.executable, str(PROGRAM), str(cluster.kubeconfig), namespace, str(RUNS)]
    chance = random.Random(1)  # noqa: S311 - not for a secret
    for _ in range(DEATHS):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as program:
            try:
                program.wait(chance.uniform(0.5, 6.0))
            except subprocess.TimeoutExpired:
                program.kill()
    subprocess.run(command, check=True, timeout=600)

    jobs = [
        job
        for job in cluster.objects("jobs", namespace, "sparkgen.dev/application=app")
        if job["metadata"]["labels"].get("sparkgen.dev/requested")
    ]
    assert len(jobs) == RUNS
    assert len({job["metadata"]["annotations"]["sparkgen.dev/request-id"] for job in jobs}) == RUNS
    assert not [job["metadata"]["name"] for job in jobs if job["spec"].get("suspend")]
    owners = {job["metadata"]["uid"]: job["metadata"]["name"] for job in jobs}
    files: dict[str, set[str]] = {name: set() for name in owners.values()}
    for item in cluster.objects("configmaps", namespace):
        for owner in item["metadata"].get("ownerReferences") or ():
            if owner["uid"] in owners:
                name = owners[owner["uid"]]
                files[name].add(item["metadata"]["name"].removeprefix(name))
    assert len({frozenset(one) for one in files.values()}) == 1, "all have the same files"
    assert all(files.values())


def test_runs_end_as_they_are_told(cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """Started and awaited at the same time: one succeeds, one fails, and one is stopped."""
    scripts(cluster, restricted)
    write(tmp_path, "waits.py", "nothing", "", "0", suspend=True)
    prefix = network.enter(NAME) if cluster.own else []
    program = Path(__file__).with_name("awaits_runs.py")
    done = subprocess.run(
        [*prefix, sys.executable, str(program), str(cluster.kubeconfig), restricted],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "codes: 0 7 True",
        "log: this run says good",
        "events: True",
        "killed: True",
        "states: Succeeded Failed Failed",
        "deleted: True",
    ]
