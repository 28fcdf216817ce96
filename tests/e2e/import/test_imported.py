"""What other operators or spark-submit would have run, runs: imported, rendered, applied, complete."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from deployed import Deployed, deploy

from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS

VERSION = TESTED_VERSIONS[0]
IMAGE = f"{REPOSITORY}:{VERSION}"
JAR = "local:///opt/spark/examples/jars/spark-examples.jar"

KUBEFLOW = f"""\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: from-kubeflow
  labels: {{team: data}}
spec:
  type: Scala
  mode: cluster
  sparkVersion: {VERSION}
  image: {IMAGE}
  imagePullPolicy: IfNotPresent
  mainClass: org.apache.spark.examples.SparkPi
  mainApplicationFile: {JAR}
  arguments: [20]
  restartPolicy: {{type: Never}}
  sparkConf:
    spark.kubernetes.driver.request.cores: 100m
    spark.kubernetes.executor.request.cores: 100m
    spark.kubernetes.executor.label.tier: batch
    spark.kubernetes.executor.volumes.emptyDir.scratch.mount.path: /scratch
  driver: {{cores: 1, memory: 600m, envVars: {{STAGE: test}}}}
  executor: {{cores: 1, instances: 1, memory: 600m, deleteOnTermination: true}}
"""

APACHE = f"""\
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata:
  name: from-apache
spec:
  mainClass: org.apache.spark.examples.SparkPi
  jars: {JAR}
  driverArgs: ["20"]
  sparkConf:
    spark.kubernetes.container.image: {REPOSITORY}:{{{{SPARK_VERSION}}}}
    spark.kubernetes.container.image.pullPolicy: IfNotPresent
    spark.kubernetes.authenticate.driver.serviceAccountName: of-the-operator
    spark.kubernetes.driver.request.cores: 100m
    spark.kubernetes.executor.request.cores: 100m
    spark.driver.memory: 600m
    spark.executor.memory: 600m
    spark.dynamicAllocation.enabled: "true"
    spark.dynamicAllocation.shuffleTracking.enabled: "true"
    spark.dynamicAllocation.maxExecutors: "1"
  applicationTolerations: {{resourceRetainPolicy: Always}}
  runtimeVersions: {{sparkVersion: {VERSION}, scalaVersion: "2.12"}}
"""

SUBMIT = f"""\
#!/bin/sh
spark-submit --master k8s://https://kubernetes.default.svc --deploy-mode cluster --name from-submit \\
  --conf spark.kubernetes.container.image={IMAGE} \\
  --conf spark.kubernetes.container.image.pullPolicy=IfNotPresent \\
  --conf spark.kubernetes.driver.request.cores=100m --conf spark.kubernetes.executor.request.cores=100m \\
  --driver-memory 600m --executor-memory 600m --num-executors 1 \\
  local:///opt/spark/examples/src/main/python/pi.py 4
"""


def imported(folder: Path, inputs: dict[str, str], *options: str) -> Path:
    """Import a directory with these files, without a finding; the directory with what came of it."""
    for name, text in inputs.items():
        (folder / name).write_text(text)
    command = [str(Path(sys.executable).with_name("sparkgen")), "import", str(folder), *options]
    made = folder / "out"
    done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made


def test_imported_applications_run_to_their_end(cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """A directory of both is imported without a finding; both compute pi, labelled as ever."""
    made = imported(tmp_path, {"pi.yaml": KUBEFLOW, "submit.sh": SUBMIT}, "--keep-labels")

    def run(name: str) -> tuple[Deployed, str]:
        application = deploy(cluster, restricted, made / f"{name}.yaml")
        return application, application.wait(300)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, ["from-kubeflow", "from-submit"]))
    assert [ended for _, ended in results] == ["Complete"] * 2, [found.story() for found, _ in results]
    for application, _ in results:
        assert "Pi is roughly 3.1" in application.logs()
        labels = application.driver()["metadata"]["labels"]
        assert labels["sparkoperator.k8s.io/app-name"] == application.name
    driver = results[0][0].driver()["spec"]["containers"][0]
    assert {"name": "STAGE", "value": "test"} in driver["env"]


@pytest.mark.full
def test_an_application_of_apaches_operator_runs(cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """Under the account that the operator had made; the version in its image is written out."""
    cluster.kubectl("create", "serviceaccount", "of-the-operator", "-n", restricted)
    application = deploy(cluster, restricted, imported(tmp_path, {"pi.yaml": APACHE}) / "from-apache.yaml")
    assert application.wait(300) == "Complete", application.story()
    assert "Pi is roughly 3.1" in application.logs()
    driver = application.driver()["spec"]
    assert driver["serviceAccountName"] == "of-the-operator"
    assert driver["containers"][0]["image"] == IMAGE
