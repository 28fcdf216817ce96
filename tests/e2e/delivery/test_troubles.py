"""What goes wrong while pods fetch: a registry that is away for a while, files that go after a start."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from deployed import wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.registry import Registry
from sparkgen import contract
from sparkgen.codes import Code

sys.path.insert(0, str(Path(__file__).parent))

from project import DRIVER, EXECUTOR, Project

pytestmark = pytest.mark.own_cluster
OLD, NEW = TESTED_VERSIONS
AWAY_SECONDS = 60.0


@pytest.fixture
def project(tmp_path: Path, registry: Registry, cluster: Cluster, restricted: str) -> Project:
    """A project whose registry has TLS and passwords."""
    return Project(tmp_path / "project", registry, cluster, restricted)


def test_a_registry_that_is_away_for_a_minute_is_waited_for(project: Project, registry: Registry) -> None:
    """The driver's `fetch` tries again until it is there; no container starts anew, and the run is whole."""
    project.write(NEW)
    project.push()
    with registry.away():
        began = time.monotonic()
        application = project.deploy()
        wait_until(
            lambda: "retrying in" in application.logs(contract.FETCH_CONTAINER),
            AWAY_SECONDS,
            "fetch says that it waits",
            application.story,
        )
        time.sleep(max(0.0, AWAY_SECONDS - (time.monotonic() - began)))
    assert application.wait() == "Complete", application.story()
    assert project.told(application) == [DRIVER, EXECUTOR]
    statuses = application.driver()["status"]["initContainerStatuses"]
    assert {one["name"]: one["restartCount"] for one in statuses}[contract.FETCH_CONTAINER] == 0
    assert len(application.drivers()) == 1


def test_executors_whose_files_have_gone_end_the_application_with_one_reason(
    project: Project, registry: Registry
) -> None:
    """The driver has its files; what executors cannot have is counted, and ends after three rounds."""
    project.write(NEW)
    project.push()
    application = project.deploy()

    def fetched() -> bool:
        pods = application.drivers().values()
        statuses = [one for pod in pods for one in pod["status"].get("initContainerStatuses", [])]
        ended = {one["name"]: one["state"].get("terminated") for one in statuses}
        return bool(ended.get(contract.FETCH_CONTAINER))

    wait_until(fetched, 60, "the driver has its files", application.story)
    registry.blob(str(project.artifact()["digest"])).unlink()
    assert application.wait() == "Failed", application.story()
    losses = application.losses()
    told = [(loss.facts["code"], loss.facts["byApplication"]) for loss in losses]
    assert set(told) == {(Code.BAD_ARTIFACT, True)}, application.story()
    assert 3 <= len(told) <= 6, application.story()  # two come in a round, where they fail at one time
    reason = f"[{Code.BAD_ARTIFACT}] no executor can start, and waiting will not help"
    assert reason in application.logs(), application.story()
    assert len(application.drivers()) == 1
