"""What benchmarks run: documents by `sparkgen render`, and programs of a ConfigMap that drivers mount."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster.handle import Cluster
from cluster.images import REPOSITORY
from cluster.plan import LAYOUT
from common.cachedir import ToolError

PI = "local:///opt/spark/examples/src/main/python/pi.py"
MEMORY = "600m"
ROLE: Mapping[str, Any] = {"cores": 1, "coreRequest": "100m", "memory": MEMORY}
"""A small driver, or executor."""
CONFIG_MAP, FOLDER = "job", "/opt/job"
"""Where a program is in a namespace, and in a driver."""
MOUNT = {"name": CONFIG_MAP, "path": FOLDER}
"""The same, as `spec.driver.configMaps` of a document has it."""


def application(
    namespace: str, version: str, program: str = PI, name: str = "pi", **spec: Any
) -> dict[str, Any]:
    """The document of a Python application with small pods; `spec` has what it says otherwise."""
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "type": "Python",
            "sparkVersion": version,
            "image": f"{REPOSITORY}:{version}",
            "mainApplicationFile": program,
            "driver": ROLE,
            "executor": ROLE,
            **spec,
        },
    }


def mounted(namespace: str, version: str, program: Path, name: str = "pi", **spec: Any) -> dict[str, Any]:
    """The document of an application that runs a program which `put` has brought to its namespace."""
    driver = {**ROLE, "configMaps": [MOUNT]}
    return application(namespace, version, in_driver(program), name, **{"driver": driver, **spec})


def in_driver(program: Path) -> str:
    """Where a driver has a program."""
    return f"local://{FOLDER}/{program.name}"


def apply_rendered(cluster: Cluster, document: Mapping[str, Any], sets: Sequence[str] = ()) -> float:
    """`sparkgen render - | kubectl apply -f -`, with `--set` of each of `sets`; the time at which it began.

    ToolError at a refusal.
    """
    began = time.time()
    command = [str(Path(sys.executable).with_name("sparkgen")), "render", "-q", "-"]
    words = [word for one in sets for word in ("--set", one)]
    text = json.dumps(document)
    done = subprocess.run([*command, *words], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"sparkgen render refuses the benchmark's document:\n{done.stderr}")
    cluster.kubectl("apply", "-f", "-", input_text=done.stdout)
    return began


def put(cluster: Cluster, namespace: str, program: Path) -> None:
    """Have the program in a namespace."""
    about = {"name": CONFIG_MAP, "namespace": namespace}
    data = {program.name: program.read_text("utf-8")}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data})


@contextmanager
def native_settings(namespace: str, most: int) -> Iterator[dict[str, str]]:
    """Settings of `spark-submit`: its driver mounts the program, and it uses up to `most` executors.

    The driver's pod template, which they name, is gone afterwards.
    """
    mount = {"name": CONFIG_MAP, "mountPath": FOLDER}
    container = {"name": "spark-kubernetes-driver", "volumeMounts": [mount]}
    volume = {"name": CONFIG_MAP, "configMap": {"name": CONFIG_MAP}}
    template = LAYOUT.root / f"{namespace}.yaml"
    template.write_text(json.dumps({"spec": {"containers": [container], "volumes": [volume]}}))
    try:
        yield {
            "spark.kubernetes.driver.podTemplateFile": str(template),
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.enabled": "true",
            "spark.dynamicAllocation.maxExecutors": str(most),
        }
    finally:
        template.unlink()
