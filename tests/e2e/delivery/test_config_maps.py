"""Files of this machine in driver and executors without a registry: a ConfigMap of the run contains them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import SMALL, Deployed, spark_image

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen import contract

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from acting import Sparkgen, on

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "code-in-git"
SAID = ["france: 1", "germany: 2", "unknown: 1"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example: a script, a module and a table."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "project"))


@pytest.fixture
def sparkgen(cluster: Cluster, restricted: str, folder: Path) -> Sparkgen:
    """The command line in that folder."""
    return on(cluster, restricted, folder)


def smaller(folder: Path, version: str) -> None:
    """Write the example's document for a version of Spark, and for a small machine."""
    document = yaml.safe_load((folder / "app.yaml").read_text())
    document["spec"] |= {
        "sparkVersion": version,
        "image": spark_image(version),
        "imagePullPolicy": "IfNotPresent",
        "driver": SMALL,
        "executor": {**SMALL, "instances": 3},
        "sparkConf": {
            **document["spec"].get("sparkConf", {}),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
        },
    }
    (folder / "app.yaml").write_text(yaml.safe_dump(document))


def pods(application: Deployed) -> Iterator[dict[str, Any]]:
    """The driver's pod, and the template of the executors'."""
    yield application.driver()["spec"]
    name = f"{application.run}-executor"
    [found] = [
        one
        for one in application.cluster.objects("configmaps", application.namespace, "")
        if one["metadata"]["name"] == name
    ]
    yield yaml.safe_load(found["data"][contract.EXECUTOR_TEMPLATE_FILE])["template"]["spec"]


@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_a_script_and_a_module_run_without_a_registry(
    version: str, folder: Path, cluster: Cluster, restricted: str, sparkgen: Sparkgen
) -> None:
    """One command; no init container downloads anything; a changed byte is one new run."""
    smaller(folder, version)
    applied = sparkgen("apply", "app.yaml", "--wait")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    [run] = [job["metadata"]["name"] for job in cluster.objects("jobs", restricted, "")]
    application = Deployed(cluster, restricted, "code-in-git", run)
    log = application.logs()
    assert sorted(line.lower() for line in log.splitlines() if line.lower() in SAID) == SAID, (
        application.story()
    )
    assert (3, 3) in application.registered(), application.story()
    for spec in pods(application):
        assert contract.FETCH_CONTAINER not in [one["name"] for one in spec.get("initContainers", [])]
        [volume] = [one for one in spec["volumes"] if one["name"] == "sparkgen-artifact-code"]
        assert volume["configMap"]["name"] == f"{run}-code"
    assert sparkgen("apply", "app.yaml").returncode == 0
    assert len(cluster.objects("jobs", restricted, "")) == 1
    with (folder / "lib" / "cleaning.py").open("a") as module:
        module.write("# more\n")
    again = sparkgen("apply", "app.yaml", "--wait")
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(cluster.objects("jobs", restricted, "")) == 2
