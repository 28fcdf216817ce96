"""The runtime from a ConfigMap: no image of sparkgen, only Spark's and one of Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import Deployed, document

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen import contract
from sparkgen.document.configuration import FILE_NAME
from sparkgen.image.runtime_files import RuntimeFiles
from sparkgen.spark_versions import scala_line
from sparkgen.usecases.runtime import files_of

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from acting import on, scripts

PI = "local:///opt/spark/examples/src/main/python/pi.py"
READY = {
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
}


def shared(cluster: Cluster, namespace: str) -> list[dict[str, Any]]:
    """The ConfigMaps with the runtime in a namespace."""
    return cluster.objects("configmaps", namespace, f"{contract.LABEL_COMPONENT}={contract.RUNTIME_NAME}")


@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_two_applications_share_a_runtime_that_nobody_has_built(
    version: str, cluster: Cluster, restricted: str, tmp_path: Path
) -> None:
    """The first brings it, the second finds it, and it stays when one of them is deleted."""
    made = files_of(scala_line(version)).name  # here: the commands below reach only the cluster
    sparkgen = on(cluster, restricted, tmp_path)
    scripts(cluster, restricted)
    (tmp_path / FILE_NAME).write_text(f"pythonImage: {cluster.load_python()}\n")
    for name in ("one", "two"):
        value = document(name, version, "", "10", mainApplicationFile=PI, sparkConf=READY)
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(value))
    first = sparkgen("apply", "one.yaml", "--wait")
    assert first.returncode == 0, first.stdout + first.stderr
    [config_map] = shared(cluster, restricted)
    assert (config_map["metadata"]["name"], config_map["immutable"]) == (made, True)
    assert sum(len(text) * 3 // 4 for text in config_map["binaryData"].values()) < 900 << 10
    [job] = cluster.objects("jobs", restricted, "sparkgen.dev/application=one")
    application = Deployed(cluster, restricted, "one", job["metadata"]["name"])
    containers = [one["name"] for one in application.driver()["spec"]["initContainers"]]
    assert containers == ["allocator"]
    assert max(known for known, _ in application.registered()) == 2

    second = sparkgen("apply", "two.yaml", "--wait")
    assert second.returncode == 0, second.stdout + second.stderr
    assert f"configmap/{made} unchanged" in second.stdout
    verified = sparkgen("verify")
    assert (verified.returncode, [line.split() for line in verified.stdout.splitlines()[1:]]) == (
        0,
        [["current", restricted, made, "one,", "two"]],
    ), verified.stderr
    altered = RuntimeFiles(scala_line(version), b"other", b"jar").config_map(restricted)
    altered["metadata"]["name"] = f"{made[:-1]}{int(made[-1], 16) ^ 1:x}"
    cluster.kubectl("apply", "--server-side", "-f", "-", input_text=json.dumps(altered))
    verified = sparkgen("verify")
    assert (verified.returncode, verified.stdout.count("altered ")) == (1, 1), verified.stdout
    cluster.kubectl("delete", "configmap", altered["metadata"]["name"], "-n", restricted)
    assert sparkgen("delete", "one", "--yes").returncode == 0
    assert len(shared(cluster, restricted)) == 1
    rendered = sparkgen("render", "one.yaml").stdout
    cluster.kubectl("apply", "--server-side", "-f", "-", input_text=rendered)
