"""What the tests of the chart need on the cluster beside the others: both helms."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gotools
from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))  # deployed.py: applications, and how to wait

CHART = Path(__file__).parents[3] / "charts" / "spark-app"

Helm = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["helm", pytest.param("helm3", marks=pytest.mark.full)])
def helm(request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path) -> Helm:
    """A function: one call of helm on the cluster, with each of the two; CHART stands for the chart."""
    command = [*(network.enter(NAME) if cluster.own else []), str(gotools.ensure(request.param))]
    homes = {f"HELM_{name}_HOME": str(tmp_path / name) for name in ("CACHE", "CONFIG", "DATA")}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        given = [str(CHART) if word == "CHART" else word for word in arguments]
        return subprocess.run(
            [*command, *given, f"--kubeconfig={cluster.kubeconfig}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(tmp_path), **homes},
        )

    return call
