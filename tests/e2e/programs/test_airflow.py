"""Tasks of a real Airflow run applications on the cluster, while its workers and its triggerer are killed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deployed import GO, wait_until

from cluster.handle import Cluster
from common.command import run
from orchestrators import airflow
from orchestrators.airflow import Airflow

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from acting import scripts, write

pytestmark = [pytest.mark.full, pytest.mark.own_cluster]
PACKAGE = Path(__file__).parents[3] / "integrations" / "airflow"
DAG = "dags/runs/dagRuns"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the operator's wheel is installed, as users get it."""
    built, target = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("provider")
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(built), str(PACKAGE))
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel))
    return target


@pytest.fixture
def started(
    cluster: Cluster,
    restricted: str,
    provider: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Airflow]:
    """An Airflow with the DAG of this test, and its application in a namespace."""
    scripts(cluster, restricted)
    write(tmp_path, "waits.py", "nothing", "", "0")
    monkeypatch.setenv("TEST_NAMESPACE", restricted)
    monkeypatch.setenv("TEST_KUBECONFIG", str(cluster.kubeconfig))
    monkeypatch.setenv("TEST_DOCUMENT", str(tmp_path / "app.yaml"))
    home = tmp_path / "airflow"
    home.mkdir()
    with airflow.running(home, Path(__file__).with_name("dags"), [provider]) as made:
        yield made


def test_a_task_has_one_run_whatever_dies(cluster: Cluster, restricted: str, started: Airflow) -> None:
    """Worker and triggerer are killed while they wait; a failure is told, a cancelled task ends its run."""
    namespace = restricted

    def jobs() -> dict[str, dict[str, Any]]:
        """The runs that tasks have asked for, by the first argument of their programs."""
        found = cluster.objects("jobs", namespace, "sparkgen.dev/application=app")
        return {
            str(container["args"][-3]): job
            for job in found
            if not job["spec"].get("suspend")
            for container in job["spec"]["template"]["spec"]["containers"]
            if container["name"] == "spark-kubernetes-driver"
        }

    def states() -> dict[str, str]:
        found = started.ask("GET", f"{DAG}/one/taskInstances")["task_instances"]
        return {one["task_id"]: str(one["state"]) for one in found}

    def await_states(seconds: float, **wanted: str) -> None:
        wait_until(lambda: wanted.items() <= states().items(), seconds, f"{wanted}", story)

    def story() -> str:
        return f"{states()}\n{started.story()}"

    def drivers() -> list[str]:
        pods = cluster.objects("pods", namespace, "spark-role=driver")
        return [pod["metadata"]["name"] for pod in pods if pod["status"]["phase"] == "Running"]

    wait_until(lambda: "runs" in str(started.ask("GET", "dags")), 120, "Airflow knows the DAG", started.story)
    started.ask("PATCH", "dags/runs", {"is_paused": False})
    started.ask("POST", DAG, {"dag_run_id": "one", "logical_date": None, "conf": {"word": "deferred"}})
    await_states(300, template="success", deferred="deferred", waiting="running", cancelled="deferred")
    before = jobs()
    assert {"template", "deferred", "waiting", "x"} <= before.keys()

    started.ask("PATCH", f"{DAG}/one/taskInstances/cancelled", {"new_state": "failed"})
    wait_until(lambda: "sparkgen.dev/killed" in str(jobs()["x"]), 60, "the cancelled run is killed", story)
    started.kill("scheduler", "triggerer")
    started.start("scheduler", "triggerer")
    await_states(300, failing="failed", cancelled="failed", deferred="deferred", waiting="running")
    wait_until(lambda: len(drivers()) >= 2, 120, "both drivers run", story)
    for pod in drivers():
        touch = ("-c", "spark-kubernetes-driver", "--", "touch", GO)
        cluster.try_kubectl("exec", "-n", namespace, pod, *touch)
    await_states(300, deferred="success", waiting="success")

    after = jobs()
    assert sorted(after) == ["deferred", "failing", "template", "waiting", "x"], "one run for each task"
    assert {word: job["metadata"]["uid"] for word, job in after.items() if word in before} == {
        word: job["metadata"]["uid"] for word, job in before.items()
    }
    logs = {
        task: str(started.ask("GET", f"{DAG}/one/taskInstances/{task}/logs/{number}"))
        for task, number in ((one["task_id"], one["try_number"]) for one in tries(started))
    }
    assert "this run says deferred" in logs["deferred"]
    assert "this run says waiting" in logs["waiting"]
    assert "exit code is 3" in logs["failing"]
    result = started.ask("GET", f"{DAG}/one/taskInstances/deferred/xcomEntries/return_value")["value"]
    assert "succeeded" in str(result).lower()
    assert after["deferred"]["metadata"]["name"] in str(result)
    links = started.ask("GET", f"{DAG}/one/taskInstances/deferred/links")["extra_links"]
    assert links == {"Spark UI": f"https://spark.example.com/{after['deferred']['metadata']['name']}"}


def tries(started: Airflow) -> list[dict[str, Any]]:
    """The task instances, each at its last try."""
    return list(started.ask("GET", f"{DAG}/one/taskInstances")["task_instances"])
