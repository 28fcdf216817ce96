"""The ways to a running application that the pages describe, followed to the letter.

From an empty repository (docs/gitops.md), and from an application of another operator (docs/import.md).
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from argo import NAMESPACE, Application, Repository, waiting
from deployed import wait_until
from pages import DOCS, follow, section, shell

from cluster.handle import Cluster
from sparkgen import contract
from sparkgen.image.runtime_files import FOLDER, RuntimeFiles, jar_name
from sparkgen.spark_versions import OLDEST
from sparkgen.usecases import runtime

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


@dataclass(frozen=True)
class Generated(Application):
    """An Application that the page's ApplicationSet makes of a directory."""

    @property
    def id(self) -> str:
        """As the ApplicationSet names it."""
        return f"prod-{self.namespace}-{self.name}"


def commit(repository: Repository, cluster: Cluster, environment: dict[str, str]) -> str:
    """Render the whole repository and commit, and have Argo CD look at its directories: the revision."""
    follow("sparkgen render -R apps -o deploy", repository.folder, environment)
    revision = repository.commit("Render")
    refresh = "argocd.argoproj.io/application-set-refresh=true"
    cluster.kubectl("annotate", "applicationset", "spark", "-n", NAMESPACE, refresh, "--overwrite")
    return revision


def runtimes(cluster: Cluster, namespace: str) -> dict[str, str]:
    """Name -> UID of the ConfigMaps with a runtime."""
    found = cluster.objects("configmaps", namespace, f"{contract.LABEL_COMPONENT}={contract.RUNTIME_NAME}")
    return {item["metadata"]["name"]: item["metadata"]["uid"] for item in found}


def another_runtime(folder: Path, line: str) -> str:
    """Write the runtime of another version of sparkgen to a folder: its name."""
    now = runtime.files_of(line)
    newer = RuntimeFiles(line, b"#!/usr/bin/env python3\n" + now.program, now.jar)
    folder.mkdir()
    (folder / contract.RUNTIME_PROGRAM_FILE).write_bytes(newer.program)
    (folder / jar_name(line)).write_bytes(newer.jar)
    return newer.name


def test_from_an_empty_repository_to_a_run_that_has_ended(
    cluster: Cluster, repository: Repository, team: str, tmp_path: Path
) -> None:
    """Argo CD makes the Application, its namespace and its one run, which ends well: Synced and Healthy.

    A second application shares the ConfigMap with the runtime. An upgrade of sparkgen brings another one
    beside it, and both stay whatever leaves Git.
    """
    old = runtime.files_of(OLDEST.scala).name  # here: the commands below reach only the cluster
    repository.with_shared_runtime(cluster.load_python())
    environment = shell(cluster, tmp_path)
    set_up(cluster, repository, team, environment)
    report, second, shared = (
        Generated(cluster, repository, name, team)
        for name in ("daily-report", "second", contract.RUNTIME_NAME)
    )
    wait_for(cluster, report.id, "Healthy")
    (job,) = cluster.objects("jobs", team, "sparkgen.dev/run")
    assert job["status"]["succeeded"] == 1
    wait_for(cluster, shared.id, "Healthy")

    folder = repository.folder / "apps" / team
    value = waiting(second.name, team, OLDEST.version)
    (folder / second.name).mkdir()
    (folder / second.name / "app.yaml").write_text(yaml.safe_dump(value))
    commit(repository, cluster, environment)
    wait_for(cluster, second.id, "Progressing")
    before, jobs, first = runtimes(cluster, team), report.jobs(), second.jobs()
    assert [*before] == [old]

    upgraded = {**environment, FOLDER: str(tmp_path / "newer")}
    new = another_runtime(tmp_path / "newer", OLDEST.scala)
    document = folder / report.name / "app.yaml"
    document.write_text(document.read_text().replace("\nspec:\n", f"\nspec:\n  runtimeConfigMap: {old}\n"))
    revision = commit(repository, cluster, upgraded)
    for application in (report, second, shared):
        application.synced(revision)
    assert runtimes(cluster, team).keys() == {old, new}
    assert (report.jobs(), len(second.jobs())) == (jobs, 2)
    wait_until(lambda: len(second.drivers()) == 2, 60, "both runs have a driver", second.story)

    shutil.rmtree(document.parent)
    revision = commit(repository, cluster, upgraded)
    assert old not in "".join(path.name for path in repository.path(f"prod/{team}").rglob("*.yaml"))
    shared.synced(revision)
    second.synced(revision)
    wait_until(lambda: not report.jobs(), 60, "the report is gone", shared.story)
    shared.refresh("hard")
    assert shared.differences() == [], shared.story()
    kept = runtimes(cluster, team)
    assert kept.keys() == {old, new}
    assert (kept[old], first.items() <= second.jobs().items()) == (before[old], True)

    cluster.kubectl("delete", "applicationset", "spark", "-n", NAMESPACE, "--timeout=120s")
    wait_until(lambda: not second.jobs(), 60, "Argo CD has removed everything else", shared.story)
    assert runtimes(cluster, team) == kept


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
