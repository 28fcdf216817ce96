"""The ways to a running application that the pages describe, followed to the letter.

From an empty repository (docs/gitops.md), and from an application of another operator (docs/import.md).
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from argo import NAMESPACE, Repository
from deployed import wait_until
from pages import DOCS, follow, section, shell

from cluster.handle import Cluster

APPLICATION_SET = Path(__file__).parents[3] / "examples" / "gitops" / "argocd" / "applicationset.yaml"
TEAM = "finance"
"""The page's team, whose namespace has its name: another name here, for a namespace of the test's own."""


@pytest.fixture
def team(cluster: Cluster, argo: None) -> Iterator[str]:
    """A name for the team; what was made for it goes after the test."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    yield name
    cluster.try_kubectl("delete", "applicationset", "spark", "-n", NAMESPACE, "--timeout=120s")
    cluster.try_kubectl("delete", "namespace", name, "--wait=false")


def with_own_names(text: str, repository: Repository) -> str:
    """The ApplicationSet with one's repository and cluster in it, as the page and its first line ask."""
    own = {
        "https://git.example.com/data/spark.git": repository.folder.as_uri(),
        'name: "{{ index .path.segments 1 }}"\n': "server: https://kubernetes.default.svc\n",
    }
    for theirs, ours in own.items():
        assert theirs in text
        text = text.replace(theirs, ours)
    return text


def set_up(cluster: Cluster, repository: Repository, team: str, environment: dict[str, str]) -> None:
    """Follow docs/gitops.md in an empty repository: one application, and Argo CD that is told of it."""
    manifest = with_own_names(APPLICATION_SET.read_text("utf-8"), repository)
    (repository.folder / "applicationset.yaml").write_text(manifest, "utf-8")
    script = section("gitops.md", "Set up a repository").replace(TEAM, team)
    follow(script, repository.folder, environment)


def wait_for(cluster: Cluster, name: str, *healths: str) -> None:
    """Wait until an Argo CD application is Synced, and its health one of these."""

    def status() -> tuple[str, str]:
        found = cluster.try_kubectl("get", "application", name, "-n", NAMESPACE, "-o", "json")
        said = json.loads(found.stdout or "{}").get("status", {})
        return said.get("sync", {}).get("status", ""), said.get("health", {}).get("status", "")

    wait_until(lambda: status() in [("Synced", one) for one in healths], 300, name, lambda: f"{status()}")


def test_from_an_empty_repository_to_a_run_that_has_ended(
    cluster: Cluster, repository: Repository, team: str, tmp_path: Path
) -> None:
    """Argo CD makes the Application, its namespace and its one run, which ends well: Synced and Healthy."""
    set_up(cluster, repository, team, shell(cluster, tmp_path))
    wait_for(cluster, f"prod-{team}-daily-report", "Healthy")
    (job,) = cluster.objects("jobs", team, "sparkgen.dev/run")
    assert job["status"]["succeeded"] == 1


@pytest.mark.full
def test_from_another_operators_application_to_its_log(
    cluster: Cluster, repository: Repository, team: str, tmp_path: Path
) -> None:
    """Imported, validated, rendered and committed; Argo CD syncs it; its state and log are read."""
    environment = shell(cluster, tmp_path)
    set_up(cluster, repository, team, environment)
    page = (DOCS / "import.md").read_text("utf-8").partition("\n## A complete example\n")[2]
    document = re.search(r"^```yaml\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert document
    old = repository.folder / "old" / "pi.yaml"
    old.parent.mkdir()
    old.write_text(document[1].replace(TEAM, team), "utf-8")
    moving, reading = section("import.md", "A complete example").replace(TEAM, team).split("sparkgen status")
    follow(moving, repository.folder, environment)
    wait_for(cluster, f"prod-{team}-pi", "Progressing", "Healthy")
    said = follow(f"sparkgen status{reading}", repository.folder, environment)
    assert "Pi is roughly 3.1" in said
    (job,) = cluster.objects("jobs", team, "sparkgen.dev/application=pi,sparkgen.dev/run")
    assert job["status"]["succeeded"] == 1
