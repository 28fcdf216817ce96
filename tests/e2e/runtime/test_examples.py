"""Every example that needs nothing from outside runs to its end, on both lines of Spark."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from deployed import deploy

from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from sparkgen.spark_versions import scala_line

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
    "event-log": "a claim (tests/e2e/eventlog makes one)",
    "history-server": "the same claim, and is no application (tests/e2e/eventlog)",
    "shuffle-service": "nothing, and is no application (tests/e2e/shuffle runs one)",
    "shuffle-application": "a shuffle service",
    "laptop-code": "a registry (tests/e2e/delivery)",
    "secure-hdfs": "HDFS with Kerberos (tests/e2e/hdfs)",
    "kueue": "a queue of Kueue (tests/e2e/queues)",
    "gang": "Kubernetes' gangs (tests/e2e/queues)",
    "volcano": "Volcano",
    "yunikorn": "YuniKorn",
}
"""What the examples need that do not run here; the API server takes all of them (tests/e2e/examples)."""
KINDS = {path.parent.name: yaml.safe_load(path.read_text())["kind"] for path in ROOT.glob("*/app.yaml")}
RUN = sorted(name for name, kind in KINDS.items() if kind == "SparkApplication" and name not in NEEDS)
"""Servers and notebooks have tests of their own."""
SMALLER = {
    "shuffle-sidecar": {"executor.instances": 1, "shuffleService.sidecarMemory": "256m"},
    "tuning": {"dynamicAllocation.minExecutors": 0, "dynamicAllocation.initialExecutors": 1},
}
"""Values that this machine is too small for, below an application's spec."""
SAYS = {"spark-conf-files": "Created pool: reports"}
"""What shows in a driver's log that an example did what it is for."""
AT_ONCE = 2


def options(name: str, version: str) -> list[str]:
    """A version of Spark, and little of a small machine."""
    values = {
        "image": f"{REPOSITORY}:{version}",
        "imagePullPolicy": "IfNotPresent",
        "driver.coreRequest": "100m",
        "executor.coreRequest": "100m",
        "driver.memory": "600m",
        "executor.memory": "600m",
        **SMALLER.get(name, {}),
    }
    texts = {"sparkVersion": version, "scalaVersion": scala_line(version)}
    spec = yaml.safe_load((ROOT / name / "app.yaml").read_text())["spec"]
    if spec.get("arguments", [""])[0].isdigit() and name != "local-demo":  # how long it takes
        texts["arguments[0]"] = "20"
    if spec["mainApplicationFile"].endswith(".jar"):  # the name of Spark's own has its version in it
        texts["mainApplicationFile"] = "local:///opt/spark/examples/jars/spark-examples.jar"
    if "expiresAt" in spec.get("run", {}):
        texts["run.expiresAt"] = "2999-01-01T00:00:00Z"
    plain = [f"--set=spec.{path}={value}" for path, value in values.items()]
    return [*plain, *(f"--set-string=spec.{path}={value}" for path, value in texts.items())]


@pytest.mark.parametrize("version", TESTED_VERSIONS)
def test_examples_run_to_their_end(version: str, cluster: Cluster, restricted: str) -> None:
    """Rendered, applied, complete: each of them, two at a time."""
    waves = ROOT / "local-demo" / "waves.py"
    cluster.kubectl("create", "configmap", "local-demo", "-n", restricted, f"--from-file={waves}")
    hive = "--from-literal=hive-site.xml=<configuration/>"
    cluster.kubectl("create", "configmap", "hive-metastore-v1", "-n", restricted, hive)

    def run(name: str) -> tuple[str, str, str]:
        application = deploy(cluster, restricted, ROOT / name / "app.yaml", *options(name, version))
        ended = application.wait(300)
        if SAYS.get(name, "") not in application.logs():
            return name, f"did not say {SAYS[name]!r}", application.story()
        return name, ended, "" if ended == "Complete" else application.story()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(run, RUN))
    assert [result for result in results if result[1] != "Complete"] == []
