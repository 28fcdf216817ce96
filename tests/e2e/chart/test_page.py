"""The page "Helm or render?" (docs/helm.md), followed to the letter on the cluster."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from deployed import wait_until
from pages import follow, section, shell

from cluster.handle import Cluster

PAGE = "helm.md"
SKIPPED = re.compile(r"^helm push .*$", re.MULTILINE)
"""There is no registry to push to."""
RUNTIME = re.compile(r"^configmap/(sparkgen-runtime-\S+) serverside-applied$", re.MULTILINE)
"""The ConfigMap with the runtime, which the page applies last."""


@pytest.fixture
def space(cluster: Cluster) -> Iterator[str]:
    """A name for the page's namespace, which the page makes itself; the namespace goes after the test."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    yield name
    cluster.try_kubectl("delete", "namespace", name, "--wait=false")


def test_with_render(cluster: Cluster, images: None, space: str, tmp_path: Path) -> None:
    """Rendered and applied, the application that `sparkgen init` writes ends well."""
    script = section(PAGE, "With render").replace("analytics", space)
    follow(script, tmp_path / "work", shell(cluster, tmp_path))

    def ended() -> bool:
        return any(job["status"].get("succeeded") for job in cluster.objects("jobs", space))

    wait_until(ended, 240, "the job is complete", lambda: cluster.kubectl("get", "pods", "-n", space))


def test_with_helm(cluster: Cluster, images: None, space: str, tmp_path: Path) -> None:
    """Every command succeeds; helm uninstall removes all, and the last release has its runtime."""
    script = SKIPPED.sub("", section(PAGE, "With Helm").replace("analytics", space))
    printed = follow(script, tmp_path / "work", shell(cluster, tmp_path))
    assert len(set(re.findall(r"^report-[0-9a-f]{8} ", printed, re.MULTILINE))) == 1
    jobs = cluster.objects("jobs", space, "sparkgen.dev/application=report")
    [runtime] = RUNTIME.findall(printed)
    assert len(jobs) == 1, "helm uninstall left a Job, or the last helm install made none"
    volumes = jobs[0]["spec"]["template"]["spec"]["volumes"]
    assert runtime in [volume.get("configMap", {}).get("name") for volume in volumes]
