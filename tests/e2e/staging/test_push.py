"""`sparkgen push` to a staging server, and applications that run from it, while its replicas die."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from deployed import Deployed, wait_until

from cluster import network
from cluster import registry as registries
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import LAYOUT, NAME
from cluster.registry_client import Client, Refused
from sparkgen import contract

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "delivery"))

from project import DEPS, DRIVER, EXECUTOR, Project, needed
from staging_server import NODE, PULL_PORT, PUSH_PORT, Staging, secrets

pytestmark = pytest.mark.own_cluster
OLD, NEW = TESTED_VERSIONS
BYTES = 40_000_000
"""Of a file beside the code: an upload and a download take a while."""


@dataclass(frozen=True)
class Store:
    """The server as projects see it: pods read from one side, and `sparkgen push` writes to the other."""

    address: str = f"{NODE.address}:{PULL_PORT}"
    push_address: str = f"{NODE.address}:{PUSH_PORT}"
    plain: bool = False
    authority: Path = LAYOUT.pki / "ca.crt"

    def config_json(self, user: str) -> str:
        """The config.json with a user's password for both sides."""
        password = registries.PASSWORDS[user][0]
        texts = [
            registries.docker_config(address, user, password) for address in (self.address, self.push_address)
        ]
        return json.dumps(
            {"auths": {key: one for text in texts for key, one in json.loads(text)["auths"].items()}}
        )


@pytest.fixture
def project(tmp_path: Path, staging: Staging, cluster: Cluster, restricted: str) -> Project:
    """A project in a namespace of its own, with a large file beside the code."""
    registries.trust(Store().address)
    found = Project(tmp_path / "project", Store(), cluster, restricted, f"{restricted}/etl")
    found.folder.mkdir()
    (found.folder / "large.bin").write_bytes(os.urandom(BYTES))
    return found


def write(project: Project, version: str, mount: str) -> None:
    """The project's document, with the large file."""
    project.write(version, mount, deps={**DEPS, "files": ["./conf/*.csv", "./large.bin"]})


def dying(staging: Staging, side: str, action: Callable[[], str], after: float) -> str:
    """What an action says, while a pod of a side is killed some seconds after it began."""
    victim = staging.pods(side)[0]
    with ThreadPoolExecutor(1) as pool:
        said = pool.submit(action)
        time.sleep(after)
        kill(staging, victim)
        return said.result()


def kill(staging: Staging, pod: str) -> None:
    """End a pod at once, as the death of its node would."""
    staging.cluster.kubectl("delete", "pod", pod, "-n", staging.namespace, "--grace-period=0", "--force")


@pytest.mark.parametrize(("version", "mount"), [(OLD, "fetch"), (NEW, "image")])
def test_replicas_that_die_lose_no_push_and_no_run(
    version: str, mount: str, project: Project, staging: Staging
) -> None:
    """A pod of each side is killed during a push, between the two, and while the driver gets its files."""
    staging.rollout()
    write(project, version, mount)
    said = dying(staging, "push", project.push, 1.5)
    assert "pushed" in said
    kill(staging, staging.pods("pull")[0])
    application = project.deploy()
    wait_until(application.has_driver, 60, "there is a driver", application.story)
    kill(staging, staging.pods("pull")[0])
    assert application.wait() == "Complete", application.story()
    assert project.told(application) == [DRIVER, EXECUTOR]
    assert len(application.drivers()) == 1
    staging.rollout()
    assert "nothing to push" in project.push()


def refused(application: Deployed) -> str:
    """Why the driver's `fetch` has ended; the test fails when it has not, or with another code."""
    assert application.wait() == "Failed", application.story()
    pods = application.drivers().values()
    (driver,) = [pod for pod in pods if pod["metadata"]["labels"][contract.LABEL_RUN] == application.run]
    statuses = driver["status"]["initContainerStatuses"]
    (end,) = [one["state"]["terminated"] for one in statuses if one["name"] == contract.FETCH_CONTAINER]
    assert end["exitCode"] == contract.BAD_ARTIFACT, application.story()
    return str(end["message"])


def test_a_password_of_another_server_and_one_that_has_expired_end_the_driver_with_one_reason(
    project: Project, staging: Staging
) -> None:
    """A password is worth nothing at the server of another namespace, nor after its Secret has changed."""
    staging.rollout()
    project.write(NEW)
    project.push()
    project.cluster.apply(needed(project.namespace, project.registry, "team-b")[0])
    words = "rejects the credentials in delivery.pullSecret"
    assert words in refused(project.deploy())

    project.cluster.apply(needed(project.namespace, project.registry)[0])
    staging.cluster.apply(*secrets(staging.namespace, pull="team-b"))
    try:
        wait_until(lambda: accepting(staging) == 0, 150, "all pods have read their passwords anew")
        project.change("lib/cleaning/parts.py", "def more():\n    return 'others'\n")
        project.push()
        assert words in refused(project.deploy())
    finally:
        staging.cluster.apply(*secrets(staging.namespace))
        wait_until(lambda: accepting(staging) == 2, 150, "all pods have the old passwords again")


def accepting(staging: Staging) -> int:
    """How many pods of the pull side accept the password of `reader`."""
    with network.inside(NAME):
        return sum(accepts(staging.client_of(pod, "pull", "reader")) for pod in staging.pods("pull"))


def accepts(client: Client) -> bool:
    """Whether the server takes the client's password."""
    try:
        client.ask("GET", "/v2/")
    except Refused:
        return False
    return True
