"""Every example that needs nothing from outside runs to its end, on both lines of Spark."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from deployed import deploy

from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS

ROOT = Path(__file__).resolve().parents[3] / "examples"
NEEDS = {
    "gpu": "a device plugin and GPUs",
    "irsa": "AWS",
    "s3-secret": "an S3 bucket",
    "r-dataframe": "an image with R",
    "streaming": "Kafka",
    "scheduled": "a time of day: its firing is the same Job",
    "scratch-volumes": "a storage class",
    "pod-template": "an image of Fluent Bit",
}
"""What the examples need that do not run here; the API server takes all of them (tests/e2e/examples)."""
RUN = sorted({path.parent.name for path in ROOT.glob("*/app.yaml")} - set(NEEDS))
AT_ONCE = 2


def options(version: str) -> list[str]:
    """A version of Spark, and little of a small machine."""
    scala = "2.12" if version.startswith("3.") else "2.13"
    values = {
        "spec.image": f"{REPOSITORY}:{version}",
        "spec.imagePullPolicy": "IfNotPresent",
        "spec.driver.coreRequest": "100m",
        "spec.executor.coreRequest": "100m",
        "spec.driver.memory": "600m",
        "spec.executor.memory": "600m",
        "spec.arguments[0]": "20",
    }
    flags = [f"--set={name}={value}" for name, value in values.items()]
    return [*flags, f"--set-string=spec.sparkVersion={version}", f"--set-string=spec.scalaVersion={scala}"]


@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_examples_run_to_their_end(version: str, cluster: Cluster, restricted: str) -> None:
    """Rendered, applied, complete: each of them, two at a time."""

    def run(name: str) -> tuple[str, str, str]:
        application = deploy(cluster, restricted, ROOT / name / "app.yaml", *options(version))
        ended = application.wait(300)
        return name, ended, "" if ended == "Complete" else application.story()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(run, RUN))
    assert [result for result in results if result[1] != "Complete"] == []
