"""`sparkgen whatif` on what a real Spark has written, with executors of the production allocator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkgen.spark_versions import NEWEST, OLDEST

SPARKGEN = Path(sys.executable).with_name("sparkgen")
PROGRAM = """
import time
from pyspark import SparkContext

context = SparkContext.getOrCreate()

def work(number):
    time.sleep(0.5)
    return number % 3, 1

print(context.parallelize(range(12), 12).map(work).reduceByKey(lambda a, b: a + b, 3).collect())
time.sleep(2)
print(context.parallelize(range(4), 4).map(work).count())
"""


def document(version: str, logs: Path) -> str:
    """Two executors, and an event log."""
    memory = {"memory": "512m", "javaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    spec = {
        "type": "Python",
        "sparkVersion": version,
        "image": f"docker.io/apache/spark:{version}",
        "mainApplicationFile": "local:///opt/app/app.py",
        "driver": memory,
        "executor": {**memory, "instances": 2},
        "sparkConf": {"spark.eventLog.enabled": "true", "spark.eventLog.dir": logs.as_uri()},
    }
    kind = {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "recorded"},
    }
    return json.dumps({**kind, "spec": spec})


@pytest.mark.parametrize("version", [OLDEST.version, NEWEST.version])
def test_a_recorded_run_is_replayed(tmp_path: Path, version: str) -> None:
    """Its log is read without a loss, and the replay is near the truth."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (tmp_path / "app.yaml").write_text(document(version, logs), "utf-8")
    (tmp_path / "app.py").write_text(PROGRAM, "utf-8")
    run = [str(SPARKGEN), "run", "--local", "app.yaml", "--map", f"/opt/app={tmp_path}"]
    subprocess.run(
        run, cwd=tmp_path, check=True, timeout=500, env={**os.environ, "PYSPARK_PYTHON": sys.executable}
    )
    (log,) = logs.iterdir()
    said = subprocess.run(
        [str(SPARKGEN), "whatif", str(log), "--json", "--set", "spec.executor.instances=1"],
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    (study,) = json.loads(said.stdout)["studies"]
    assert (study["sparkVersion"], study["finished"]) == (version, True)
    assert (study["reading"]["broken"], study["reading"]["cut_off"]) == (0, 0)
    assert study["recorded"]["mostExecutors"] == 2
    assert abs(study["error"]["wall"]) < 0.15
    assert study["replayed"]["taskSeconds"] == pytest.approx(study["recorded"]["taskSeconds"], rel=0.15)
    (alone,) = study["runs"]
    assert alone["mostExecutors"] == 1
    assert alone["wallSeconds"] > study["replayed"]["wallSeconds"]
