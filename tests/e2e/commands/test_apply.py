"""`sparkgen apply`: what a preflight sees through a real API server, and server-side apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.handle import Cluster
from tests.e2e.commands.acting import Sparkgen, account, on, scripts, write

HELD = {"suspend": True}
"""Nothing of it runs: these tests are about objects."""


@pytest.fixture
def sparkgen(cluster: Cluster, restricted: str, tmp_path: Path) -> Sparkgen:
    """The command line where app.yaml is, in a namespace that enforces Pod Security "restricted"."""
    scripts(cluster, restricted)
    write(tmp_path, **HELD)
    return on(cluster, restricted, tmp_path)


def results(out: str) -> set[str]:
    """What became of the objects."""
    return {line.partition(" ")[2] for line in out.splitlines()}


@pytest.mark.core
def test_created_unchanged_configured_and_taken_over(
    cluster: Cluster, restricted: str, sparkgen: Sparkgen, tmp_path: Path
) -> None:
    """A dry run, the apply, the same again, a tuning; what kubectl applied is no conflict."""
    dry = sparkgen("apply", "app.yaml", "--dry-run")
    assert (dry.returncode, results(dry.stdout)) == (0, {"created (dry run)"}), dry.stderr
    assert "error" not in dry.stderr
    first = sparkgen("apply", "app.yaml")
    assert (first.returncode, results(first.stdout)) == (0, {"created"}), first.stderr
    assert "is suspended; next: sparkgen run app" in first.stderr
    assert results(sparkgen("apply", "app.yaml").stdout) == {"unchanged"}
    cluster.kubectl("apply", "-n", restricted, "-f", "-", input_text=sparkgen("render", "app.yaml").stdout)
    write(tmp_path, **HELD, executor={"instances": 7})
    tuned = sparkgen("apply", "app.yaml")
    assert tuned.returncode == 0, tuned.stderr
    changed = [line for line in tuned.stdout.splitlines() if not line.endswith("unchanged")]
    assert changed == ["configmap/app-tuning configured"]


def test_every_finding_at_once(cluster: Cluster, restricted: str, sparkgen: Sparkgen, tmp_path: Path) -> None:
    """Quota, Secret, Pod Security, a date: each with its next step, and nothing is applied."""
    quota = {"hard": {"requests.memory": "2500Mi", "pods": "10"}}
    metadata = {"name": "team", "namespace": restricted}
    cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": quota})
    write(
        tmp_path,
        imagePullSecrets=["registry"],
        run={"expiresAt": "2020-01-01T00:00:00Z"},
        driver={"podSecurityContext": {"runAsNonRoot": False}},
    )
    result = sparkgen("apply", "app.yaml")
    assert (result.returncode, result.stdout) == (1, "")
    said = result.stderr
    assert "error: the driver needs the Secret registry, which does not exist in" in said
    assert 'allows only pods of the level "restricted": lets the container run as root (SG214)' in said
    assert "error: the run expired at 2020-01-01T00:00:00Z" in said
    assert (
        "warning: the quota has room for 1 of 2 executors, and the others will wait; requests.memory" in said
    )
    assert "in ResourceQuota team" in said
    assert not cluster.objects("jobs", restricted)


def test_no_rights_no_namespace(
    cluster: Cluster, restricted: str, sparkgen: Sparkgen, tmp_path: Path
) -> None:
    """Rights that are missing, with what they are for; a Role that nobody may give who has less."""
    reads = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}
    objects = {
        "apiGroups": ["", "rbac.authorization.k8s.io"],
        "resources": ["serviceaccounts", "roles", "rolebindings", "configmaps", "services"],
        "verbs": ["create", "patch"],
    }
    somebody = account(cluster, restricted, tmp_path, reads, objects)
    result = sparkgen("apply", "app.yaml", kubeconfig=somebody)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"you lack permissions in {restricted}: patch jobs" in result.stderr
    assert "you cannot grant the permissions in the Role app" in result.stderr
    assert "not checked: whether nodes have" in result.stderr
    nowhere = on(cluster, "nowhere", tmp_path)("apply", "app.yaml")
    assert nowhere.returncode == 1
    missing = (
        "the namespace nowhere does not exist\n    next: create it with kubectl create namespace nowhere"
    )
    assert missing in nowhere.stderr
