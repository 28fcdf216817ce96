"""`sparkgen shell` with local files: its driver has them where they are, executors have what was pushed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.registry import Registry
from common.cachedir import environment
from spark import spark_home
from sparkgen.local import spark as local_spark
from tests.e2e.client.laptop import laptop

sys.path.insert(0, str(Path(__file__).parent))

from project import DRIVER, EXECUTOR, SPARKGEN, Project, offline

pytestmark = pytest.mark.own_cluster
NEW = TESTED_VERSIONS[1]


def test_a_session_has_the_files_of_its_document(
    tmp_path: Path, registry: Registry, cluster: Cluster, restricted: str
) -> None:
    """The same program prints the same in a session as in a run: modules, packages, files, jars, archives."""
    project = Project(tmp_path / "project", registry, cluster, restricted)
    project.write(NEW)
    project.push()
    home = spark_home.ensure(NEW)
    release = local_spark.inspect(home, "the tests")
    assert release is not None
    with laptop() as beside:
        done = subprocess.run(
            [
                *beside.enter,
                *(SPARKGEN, "shell", str(project.document), "--kubeconfig", str(cluster.kubeconfig)),
                *("-n", restricted, "--", "spark-submit", str(project.folder / "jobs/etl.py")),
            ],
            env={
                **environment(),
                **offline(project.folder),
                "SPARK_HOME": str(home),
                "PYTHONPATH": release.python_path,
                "XDG_RUNTIME_DIR": str(tmp_path),
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
    told = [line for line in done.stdout.splitlines() if line.startswith(("driver ", "executor "))]
    assert (done.returncode, told) == (0, [DRIVER, EXECUTOR]), done.stdout + done.stderr
