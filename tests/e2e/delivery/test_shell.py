"""`sparkgen shell` with local files: its driver has them where they are, executors have what was pushed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from deployed import SMALL, spark_image

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
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "code-in-git"
ORDERS = ["France: 1", "Germany: 2", "unknown: 1"]


def in_session(
    cluster: Cluster, namespace: str, document: Path, script: str, version: str, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Returns what `sparkgen shell` came to whose session runs a script beside the document."""
    home = spark_home.ensure(version)
    release = local_spark.inspect(home, "the tests")
    assert release is not None
    with laptop() as beside:
        return subprocess.run(
            [
                *beside.enter,
                *(SPARKGEN, "shell", str(document), "--kubeconfig", str(cluster.kubeconfig)),
                *("-n", namespace, "--", "spark-submit", str(document.parent / script)),
            ],
            env={
                **environment(),
                **variables,
                "SPARK_HOME": str(home),
                "PYTHONPATH": release.python_path,
                "XDG_RUNTIME_DIR": str(document.parent),
            },
            cwd=document.parent.parent,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )


def test_a_session_has_the_files_of_its_document(
    tmp_path: Path, registry: Registry, cluster: Cluster, restricted: str
) -> None:
    """The same program prints the same in a session as in a run: modules, packages, files, jars, archives."""
    project = Project(tmp_path / "project", registry, cluster, restricted)
    project.write(NEW)
    project.push()
    done = in_session(cluster, restricted, project.document, "jobs/etl.py", NEW, offline(project.folder))
    told = [line for line in done.stdout.splitlines() if line.startswith(("driver ", "executor "))]
    assert (done.returncode, told) == (0, [DRIVER, EXECUTOR]), done.stdout + done.stderr


def test_a_session_has_the_files_of_its_document_without_a_registry(
    tmp_path: Path, cluster: Cluster, restricted: str, images: None
) -> None:
    """A ConfigMap brings the module and the table to the executors; the driver reads them where they are."""
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "project"))
    document = yaml.safe_load((folder / "app.yaml").read_text())
    document["spec"] |= {
        "sparkVersion": NEW,
        "image": spark_image(NEW),
        "executor": {**SMALL, "instances": 1},
    }
    (folder / "app.yaml").write_text(yaml.safe_dump(document))
    done = in_session(cluster, restricted, folder / "app.yaml", "job.py", NEW, {})
    assert (done.returncode, done.stdout.splitlines()[-3:]) == (0, ORDERS), done.stdout + done.stderr
