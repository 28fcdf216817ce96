"""The way from an empty repository to a running application (docs/gitops.md), followed to the letter."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from argo import NAMESPACE, Repository
from deployed import wait_until
from pages import follow, section, shell

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


def test_from_an_empty_repository_to_a_run_that_has_ended(
    cluster: Cluster, repository: Repository, team: str, tmp_path: Path
) -> None:
    """Argo CD makes the Application, its namespace and its one run, which ends well: Synced and Healthy."""
    manifest = with_own_names(APPLICATION_SET.read_text("utf-8"), repository)
    (repository.folder / "applicationset.yaml").write_text(manifest, "utf-8")
    script = section("gitops.md", "A repository for all of it").replace(TEAM, team)
    follow(script, repository.folder, shell(cluster, tmp_path))
    name = f"prod-{team}-daily-report"

    def status() -> tuple[str, str]:
        found = cluster.try_kubectl("get", "application", name, "-n", NAMESPACE, "-o", "json")
        said = json.loads(found.stdout or "{}").get("status", {})
        return said.get("sync", {}).get("status", ""), said.get("health", {}).get("status", "")

    wait_until(lambda: status() == ("Synced", "Healthy"), 300, name, lambda: f"{status()}")
    (job,) = cluster.objects("jobs", team, "sparkgen.dev/run")
    assert job["status"]["succeeded"] == 1
