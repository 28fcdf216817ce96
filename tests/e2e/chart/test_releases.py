"""Releases on a real cluster: what an install, an upgrade, a rollback and an uninstall do to runs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import APPLICATIONS, Deployed, document, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen.model import build
from sparkgen.resources import run_name

OLD, NEW = TESTED_VERSIONS
EVERYTHING = "jobs,cronjobs,pods,configmaps,services,serviceaccounts,roles,rolebindings,secrets,deployments"
NOT_OURS = ("ConfigMap/kube-root-ca.crt", "ConfigMap/applications", "ServiceAccount/default")

Helm = Callable[..., subprocess.CompletedProcess[str]]
Value = dict[str, Any]


def release(helm: Helm, folder: Path, namespace: str, value: Mapping[str, Any], *more: str) -> None:
    """`helm upgrade --install`, as a person does; it must succeed."""
    name = value["metadata"]["name"]
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(dict(value)), encoding="utf-8")
    done = helm("upgrade", "--install", f"{name}-release", "CHART", "-n", namespace, "-f", str(path), *more)
    assert done.returncode == 0, done.stderr
    assert f"{name} runs" in done.stdout  # the notes


def rolled_back(helm: Helm, name: str, namespace: str) -> None:
    """`helm rollback NAME 1`: at once with Helm 4, at the second try with Helm 3 (docs/helm.md)."""
    done = helm("rollback", name, "1", "-n", namespace)
    if done.returncode and helm("version", "--short").stdout.startswith("v3."):
        assert "cannot patch" in done.stderr
        done = helm("rollback", name, "1", "-n", namespace)
    assert done.returncode == 0, done.stderr


def scripts(cluster: Cluster, namespace: str) -> None:
    """The applications' programs, which the documents mount."""
    data = {path.name: path.read_text() for path in APPLICATIONS.glob("*.py")}
    metadata = {"name": "applications", "namespace": namespace}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def deployed(cluster: Cluster, namespace: str, value: Value) -> Deployed:
    """The run that a document describes now, on the cluster."""
    return Deployed(cluster, namespace, value["metadata"]["name"], run_name(build(value)))


def drivers(cluster: Cluster, namespace: str, run: str) -> list[Value]:
    """The pods of a run's driver."""
    return cluster.objects("pods", namespace, f"sparkgen.dev/run={run},spark-role=driver")


def driving(cluster: Cluster, namespace: str, run: str) -> str:
    """The UID of a run's driver that runs; "" when there is none."""
    pods = [pod for pod in drivers(cluster, namespace, run) if pod["status"].get("phase") == "Running"]
    return str(pods[0]["metadata"]["uid"]) if pods else ""


def jobs(cluster: Cluster, namespace: str) -> dict[str, str]:
    """Name -> UID of every Job of an application."""
    found = cluster.objects("jobs", namespace, "sparkgen.dev/run")
    return {job["metadata"]["name"]: job["metadata"]["uid"] for job in found}


def left(cluster: Cluster, namespace: str) -> list[str]:
    """Everything in the namespace that is not its own."""
    found = cluster.objects(EVERYTHING, namespace)
    names = [f"{item['kind']}/{item['metadata']['name']}" for item in found]
    return [name for name in names if name not in NOT_OURS]


@pytest.mark.core
def test_the_life_of_a_release(helm: Helm, cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """Install, upgrade unchanged, upgrade while it runs, roll back, uninstall: no driver is ever hurt."""
    scripts(cluster, restricted)
    first = document("report", OLD, "hold.py", "2", "nothing", "45")
    second = document("report", NEW, "hold.py", "2", "nothing", "600")
    one, two = (deployed(cluster, restricted, value) for value in (first, second))

    release(helm, tmp_path, restricted, first)
    wait_until(lambda: bool(one.executors("Running")), 180, "an executor runs", one.story)
    wait_until(lambda: bool(driving(cluster, restricted, one.run)), 60, "the driver runs", one.story)
    before, driver = jobs(cluster, restricted), driving(cluster, restricted, one.run)
    assert [*before] == [one.run]

    release(helm, tmp_path, restricted, first)
    assert (jobs(cluster, restricted), driving(cluster, restricted, one.run)) == (before, driver)

    release(helm, tmp_path, restricted, second)
    assert sorted(jobs(cluster, restricted)) == sorted([one.run, two.run])
    assert driving(cluster, restricted, one.run) == driver, "the driver of the old run is still the same"
    assert one.wait() == "Complete", one.story()
    log = cluster.kubectl("logs", "-n", restricted, f"job/{one.run}", "-c", "spark-kubernetes-driver")
    assert "total: 1" in log
    wait_until(lambda: bool(driving(cluster, restricted, two.run)), 120, "the new run runs", two.story)

    tested = helm("test", "report-release", "-n", restricted)
    assert tested.returncode == 0, tested.stdout + tested.stderr

    both, driver = jobs(cluster, restricted), driving(cluster, restricted, two.run)
    rolled_back(helm, "report-release", restricted)
    assert jobs(cluster, restricted) == both, "a rollback starts nothing, and ends nothing"
    assert driving(cluster, restricted, two.run) == driver
    (service,) = cluster.objects("services", restricted)
    assert service["spec"]["selector"]["sparkgen.dev/run"] == one.run

    gone = helm("uninstall", "report-release", "-n", restricted)
    assert gone.returncode == 0, gone.stderr
    wait_until(
        lambda: not left(cluster, restricted), 60, "nothing is left", lambda: str(left(cluster, restricted))
    )


def test_two_releases_share_a_namespace(
    helm: Helm, cluster: Cluster, restricted: str, tmp_path: Path
) -> None:
    """Each has its own objects; the end of one does nothing to the other; a name is taken once."""
    scripts(cluster, restricted)
    first = document("left", OLD, "hold.py", "1", "nothing", "600", executor={"instances": 1})
    nightly = document("right", OLD, "hold.py", "1", "nothing", "1")
    second = {**nightly, "kind": "ScheduledSparkApplication"}
    second["spec"] = {"schedule": "0 3 1 1 *", "template": nightly["spec"]}
    release(helm, tmp_path, restricted, first)
    release(helm, tmp_path, restricted, second)
    run = deployed(cluster, restricted, first).run
    wait_until(lambda: bool(driving(cluster, restricted, run)), 180, "the driver runs", lambda: run)
    driver = driving(cluster, restricted, run)
    (cron,) = cluster.objects("cronjobs", restricted)
    assert cron["metadata"]["name"] == "right"

    again = helm("install", "other", "CHART", "-n", restricted, "-f", str(tmp_path / "left.yaml"))
    assert again.returncode != 0
    assert "left-release" in again.stderr, "Helm says whose the objects are"

    gone = helm("uninstall", "right-release", "-n", restricted)
    assert gone.returncode == 0, gone.stderr
    assert not [name for name in left(cluster, restricted) if "/right" in name]
    assert driving(cluster, restricted, run) == driver
    assert helm("uninstall", "left-release", "-n", restricted).returncode == 0
    wait_until(
        lambda: not left(cluster, restricted), 60, "nothing is left", lambda: str(left(cluster, restricted))
    )


def test_a_release_without_a_runtime(helm: Helm, cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """Spark's own backend creates its executors; an uninstall needs only Python, and leaves nothing."""
    scripts(cluster, restricted)
    own = {"allocator": "spark", "pythonImage": cluster.load_python(), "executor": {"instances": 1}}
    value = document("own", NEW, "hold.py", "1", "nothing", "600", **own)
    release(helm, tmp_path, restricted, value)
    run = deployed(cluster, restricted, value)
    wait_until(lambda: bool(run.executors("Running")), 120, "an executor runs", run.story)
    assert helm("test", "own-release", "-n", restricted).returncode == 0
    gone = helm("uninstall", "own-release", "-n", restricted)
    assert gone.returncode == 0, gone.stderr
    wait_until(
        lambda: not left(cluster, restricted), 60, "nothing is left", lambda: str(left(cluster, restricted))
    )


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("spec.executor.instnces=2", "at '/spec/executor': additional properties 'instnces' not allowed"),
        ("spec.executor.memory=2Gi", "at '/spec/executor/memory': '2Gi' does not match pattern"),
        ("spec.driver.template.spec.hostPID=true", "error[SG166] spec.driver.template.spec.hostPID"),
    ],
)
def test_wrong_values_install_nothing(
    setting: str, says: str, helm: Helm, cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """Refused at install, with the path named, and nothing is in the namespace."""
    path = tmp_path / "app.yaml"
    path.write_text(yaml.safe_dump(document("wrong", OLD, "hold.py", "1", "nothing", "1")), encoding="utf-8")
    done = helm("install", "wrong", "CHART", "-n", namespace, "-f", str(path), "--set", setting)
    assert done.returncode != 0
    assert says in done.stderr
    assert left(cluster, namespace) == []
