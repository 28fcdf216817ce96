"""The page "Helm or render?" (docs/helm.md), followed to the letter on the cluster."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from deployed import wait_until

import gotools
from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME

PAGE = Path(__file__).parents[3] / "docs" / "helm.md"
CHARTS = Path(__file__).parents[3] / "charts"
SKIPPED = re.compile(r"^helm push .*$", re.MULTILINE)
"""There is no registry to push to."""


def section(title: str) -> str:
    """The commands of a section of the page and of its subsections, as one script."""
    text = PAGE.read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert blocks, f"{title} has no commands"
    return SKIPPED.sub("", "\n".join(blocks))


@pytest.fixture
def space(cluster: Cluster) -> Iterator[str]:
    """A name for the page's namespace, which the page makes itself; the namespace goes after the test."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    yield name
    cluster.try_kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def shell(cluster: Cluster, tmp_path: Path) -> dict[str, str]:
    """An environment in which kubectl, helm and sparkgen are found, and talk to the cluster."""
    folder = tmp_path / "bin"
    folder.mkdir()
    enter = " ".join(network.enter(NAME)) if cluster.own else ""
    for name in ("kubectl", "helm"):
        (folder / name).write_text(f'#!/bin/sh\nexec {enter} {gotools.ensure(name)} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    (folder / "sparkgen").symlink_to(Path(sys.executable).with_name("sparkgen"))
    homes = {f"HELM_{name}_HOME": str(tmp_path / name) for name in ("CACHE", "CONFIG", "DATA")}
    return {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "KUBECONFIG": str(cluster.kubeconfig),
        **homes,
    }


def follow(script: str, folder: Path, shell: dict[str, str]) -> str:
    """Run a script line by line; it ends at the first command that fails."""
    folder.mkdir()
    done = subprocess.run(
        ["sh", "-euxc", script],
        cwd=folder,
        env=shell,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_with_render(
    cluster: Cluster, images: None, space: str, shell: dict[str, str], tmp_path: Path
) -> None:
    """Rendered and applied, the application that `sparkgen init` writes ends well."""
    follow(section("With render").replace("analytics", space), tmp_path / "work", shell)

    def ended() -> bool:
        return any(job["status"].get("succeeded") for job in cluster.objects("jobs", space))

    wait_until(ended, 240, "the job is complete", lambda: cluster.kubectl("get", "pods", "-n", space))


def test_with_helm(cluster: Cluster, images: None, space: str, shell: dict[str, str], tmp_path: Path) -> None:
    """Installed, tested, upgraded, rolled back and uninstalled: every command of the page succeeds."""
    printed = follow(section("With Helm").replace("analytics", space), tmp_path / "work", shell)
    assert len(set(re.findall(r"^report-[0-9a-f]{8} ", printed, re.MULTILINE))) == 1
    assert cluster.objects("jobs,configmaps", space, "sparkgen.dev/application=report") == []
