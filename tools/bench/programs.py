"""What benchmarks run: documents by `sparkgen render`, and programs of a ConfigMap that drivers mount."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster import fakes, network
from cluster.handle import Cluster
from cluster.images import REPOSITORY
from cluster.plan import LAYOUT, NAME
from cluster.runtime_image import CONFIGURED
from common.command import run

SPARKGEN = str(Path(sys.executable).with_name("sparkgen"))
PI = "local:///opt/spark/examples/src/main/python/pi.py"
MEMORY = "600m"
ROLE: Mapping[str, Any] = {"cores": 1, "coreRequest": "100m", "memory": MEMORY}
"""A small driver, or executor."""
FAKE_ROLE: Mapping[str, Any] = {**ROLE, "coreRequest": "10m", **fakes.PLACE}
"""The same on kwok's fake nodes."""
CONFIG_MAP, FOLDER = "job", "/opt/job"
"""Where a program is in a namespace, and in a driver."""
MOUNT = {"name": CONFIG_MAP, "path": FOLDER}
"""The same, as `spec.driver.configMaps` of a document has it."""


def document(kind: str, namespace: str, version: str, name: str, **spec: Any) -> dict[str, Any]:
    """A document with a Spark of its image; `spec` has the rest. Without a `namespace`, it names none."""
    place = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, **place},
        "spec": {"sparkVersion": version, "image": f"{REPOSITORY}:{version}", **spec},
    }


def application(
    namespace: str, version: str, program: str = PI, name: str = "pi", **spec: Any
) -> dict[str, Any]:
    """The document of a Python application with small pods; `spec` has what it says otherwise."""
    own = {"type": "Python", "mainApplicationFile": program, "driver": ROLE, "executor": ROLE}
    return document("SparkApplication", namespace, version, name, **{**own, **spec})


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
    words = [word for one in sets for word in ("--set", one)]
    rendered = run(SPARKGEN, "render", "-q", "-", *words, input_text=json.dumps(document), cwd=CONFIGURED)
    cluster.kubectl("apply", "-f", "-", input_text=rendered)
    return began


def apply(cluster: Cluster, text: str, *options: str) -> None:
    """`sparkgen apply -` of the text of documents."""
    place = f"--kubeconfig={cluster.kubeconfig}"
    run(*network.enter(NAME), SPARKGEN, "apply", "-q", place, *options, "-", input_text=text, cwd=CONFIGURED)


def put(cluster: Cluster, namespace: str, program: Path) -> None:
    """Have the program in a namespace."""
    about = {"name": CONFIG_MAP, "namespace": namespace}
    data = {program.name: program.read_text("utf-8")}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data})


@contextmanager
def settings_on_fakes(namespace: str, count: int) -> Iterator[dict[str, str]]:
    """Settings of `spark-submit`: so many executors on kwok's fake nodes."""
    template = LAYOUT.root / f"{namespace}.yaml"
    template.write_text(json.dumps({"spec": {"tolerations": [fakes.TAINT]}}))
    try:
        yield {
            "spark.executor.instances": str(count),
            "spark.kubernetes.executor.request.cores": "10m",
            "spark.kubernetes.executor.podTemplateFile": str(template),
            **{f"spark.kubernetes.executor.node.selector.{key}": text for key, text in fakes.LABEL.items()},
        }
    finally:
        template.unlink()
