"""Files of this machine in driver and executors: pushed, fetched or mounted, and what goes wrong."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from deployed import Deployed, wait_until

from cluster import network
from cluster import registry as registries
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import NAME
from cluster.registry import Registry
from sparkgen import contract

sys.path.insert(0, str(Path(__file__).parent))

import project as projects
from project import DRIVER, EXECUTOR, Project

pytestmark = pytest.mark.own_cluster
OLD, NEW = TESTED_VERSIONS


@pytest.fixture
def project(tmp_path: Path, registry: Registry, cluster: Cluster, restricted: str) -> Project:
    """A project whose registry has TLS and passwords."""
    return Project(tmp_path / "project", registry, cluster, restricted)


def fetch_of(application: Deployed) -> dict[str, object]:
    """How the driver's `fetch` ended; empty while it has not."""
    for status in application.driver()["status"].get("initContainerStatuses", []):
        if status["name"] == contract.FETCH_CONTAINER:
            return dict(status["state"].get("terminated") or {})
    return {}


@pytest.mark.core
@pytest.mark.parametrize(
    ("version", "mount"), [pytest.param(OLD, "fetch", marks=pytest.mark.families), (NEW, "image")]
)
def test_a_python_project_runs_from_this_machine(version: str, mount: str, project: Project) -> None:
    """Modules in a folder, a file, a jar, an archive and a pinned package, in driver and executors alike."""
    project.write(version, mount)
    project.push()
    application = project.deploy()
    assert application.wait() == "Complete", application.story()
    assert project.told(application) == [DRIVER, EXECUTOR]
    names = [one["name"] for one in application.driver()["spec"]["initContainers"]]
    ours = ["install", "fetch", "allocator"] if mount == "fetch" else ["allocator"]
    assert names == ours


@pytest.mark.parametrize(("version", "mount"), [(NEW, "fetch"), (OLD, "image")])
def test_so_it_does_with_the_other_spark(version: str, mount: str, project: Project) -> None:
    """Both ways with both versions."""
    test_a_python_project_runs_from_this_machine(version, mount, project)


def test_changed_code_is_one_new_run_and_unchanged_code_is_none(
    tmp_path: Path, plain_registry: Registry, cluster: Cluster, restricted: str
) -> None:
    """By plain HTTP; the second push sends the code alone."""
    project = Project(tmp_path / "project", plain_registry, cluster, restricted)
    project.write(NEW)
    project.push()
    first = project.deploy()
    assert first.wait() == "Complete", first.story()
    project.push()
    assert project.deploy().run == first.run
    project.change("lib/cleaning/parts.py", "def more():\n    return 'others'\n")
    project.push()
    second = project.deploy()
    assert second.run != first.run
    assert second.wait() == "Complete", second.story()
    assert project.told(second)[1] == EXECUTOR.replace("parts", "others")
    jobs = cluster.objects("jobs", restricted, "")
    assert sorted(job["metadata"]["name"] for job in jobs) == sorted([first.run, second.run])


@pytest.mark.parametrize("trouble", ["truncated", "tampered", "gone", "password"])
def test_what_cannot_be_had_ends_the_driver_with_one_reason(
    trouble: str, project: Project, registry: Registry
) -> None:
    """The exit code says that no second try helps, and `status` says what to do."""
    project.write(NEW)
    project.push()
    blob = registry.blob(str(project.artifact()["digest"]))
    data = blob.read_bytes()
    match trouble:
        case "truncated":
            blob.write_bytes(data[: len(data) // 2])
            words = "in the lock"
        case "tampered":
            blob.write_bytes(data.replace(b"cleaning-1", b"cleaning-2"))
            words = "is not what was pushed"
        case "gone":
            blob.unlink()
            words = "is not in the registry"
        case _:
            config = registries.docker_config(registry.address, "reader", "another")
            secret = projects.needed(project.namespace, project.registry)[0]
            secret["stringData"] = {".dockerconfigjson": config}
            project.cluster.apply(secret)
            words = "rejects the credentials in delivery.pullSecret"
    application = project.deploy()
    assert application.wait() == "Failed", application.story()
    end = fetch_of(application)
    assert end["exitCode"] == contract.BAD_ARTIFACT, application.story()
    assert words in str(end["message"])
    assert len(application.drivers()) == 1
    assert not application.executors()


def test_what_cannot_be_mounted_is_told_by_status(project: Project, registry: Registry) -> None:
    """The kubelet tries again and again, and no container of the driver starts; `status` says why."""
    project.write(NEW, "image")
    project.change("conf/unique.csv", uuid.uuid4().hex)  # no node has it from another test
    project.push()
    registry.blob(str(project.artifact()["digest"])).unlink()
    application = project.deploy()
    known = ("-n", project.namespace, "--kubeconfig", str(project.cluster.kubeconfig))

    def told() -> str:
        command = [*network.enter(NAME), projects.SPARKGEN, "status", "etl", "-o", "json", *known]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    words = f"the artifact {project.artifact()['reference']} cannot be pulled"
    wait_until(lambda: words in told(), 90, "status names the artifact", told)
    assert "sparkgen push" in told()
    assert len(application.drivers()) == 1
    assert not application.executors("Running")
