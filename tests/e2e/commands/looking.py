"""Applications that fail, each in its way, and what `sparkgen status` makes of them on a real cluster."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import yaml
from deployed import APPLICATIONS, document, wait_until

from cluster import network
from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from cluster.plan import NAME
from cluster.runtime_image import CONFIGURED
from tests.unit.live.cases import CASES

VERSION = TESTED_VERSIONS[0]
EXAMPLES = "local:///opt/spark/examples/jars/spark-examples.jar"


def words(cluster: Cluster, namespace: str, *arguments: str, kubeconfig: Path | None = None) -> list[str]:
    """`sparkgen ARGUMENTS` in a namespace, as a program and its arguments."""
    prefix = network.enter(NAME) if cluster.own else []
    options = ["-n", namespace, "--kubeconfig", str(kubeconfig or cluster.kubeconfig)]
    return [*prefix, sys.executable, "-m", "sparkgen", *arguments, *options]


def sparkgen(
    cluster: Cluster, namespace: str, *arguments: str, kubeconfig: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command, and what it printed."""
    command = words(cluster, namespace, *arguments, kubeconfig=kubeconfig)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def status(cluster: Cluster, namespace: str, *names: str) -> dict[str, dict[str, Any]]:
    """The latest run of each application, by its name."""
    done = sparkgen(cluster, namespace, "status", "-o", "json", *names)
    assert done.returncode == 0, done.stderr
    return {row["application"]: row for row in json.loads(done.stdout)["runs"] if row["latest"]}


def code_of(row: dict[str, Any] | None) -> str:
    """The code of a run's reason."""
    return ((row or {}).get("reason") or {}).get("code", "")


def wait_for(cluster: Cluster, namespace: str, wanted: dict[str, str], seconds: float) -> None:
    """Wait until the reasons are these; their next steps are those of the table in the docs."""
    last: dict[str, dict[str, Any]] = {}

    def there() -> bool:
        last.clear()
        last.update(status(cluster, namespace))
        return all(code_of(last.get(name)) == code for name, code in wanted.items())

    def story() -> str:
        table = sparkgen(cluster, namespace, "status", "-o", "wide").stdout
        found = {name: code_of(row) for name, row in last.items()}
        return f"wanted {wanted}\nfound  {found}\n{table}"

    wait_until(there, seconds, "the reasons are told", story)
    steps = {name: masked(str(last[name]["reason"]["nextStep"]), name) for name in wanted}
    assert {name: step for name, step in steps.items() if step not in told(wanted[name])} == {}


def told(code: str) -> set[str]:
    """The next steps that the table of docs/troubleshooting.md has for a code, masked."""
    return {
        masked(case.reason().next_step, "pi") for case in CASES.values() if case.table and case.code == code
    }


def masked(step: str, name: str) -> str:
    """A next step without the application's name, its namespace and without numbers."""
    anywhere = re.sub(r" -n \S+", " -n NAMESPACE", step.replace(f"logs {name}", "logs NAME"))
    return re.sub(r"\d+", "N", anywhere)


def jvm(name: str, main_class: str, jar: str, **spec: Any) -> dict[str, Any]:
    """An application in Java, of a small driver and one executor."""
    value = document(name, VERSION, "none.py", **spec)
    value["spec"].update(type="Java", mainClass=main_class, mainApplicationFile=jar)
    value["spec"]["executor"]["instances"] = 1
    return value


def tomorrows_jar() -> bytes:
    """A jar with a class file of a version that no Java has: all that the JVM reads of it is the version."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as jar:
        jar.writestr("Tomorrow.class", bytes.fromhex("cafebabe00000063") + bytes(16))
    return data.getvalue()


def jars(cluster: Cluster, namespace: str) -> None:
    """Put that jar where drivers can mount it."""
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "jars", "namespace": namespace},
            "binaryData": {"tomorrow.jar": base64.b64encode(tomorrows_jar()).decode()},
        }
    )


def deploy_all(cluster: Cluster, namespace: str, *documents: dict[str, Any], lacks: str = "") -> None:
    """Render documents and apply what they come to, at once; `lacks`: less the objects of a kind."""
    done = subprocess.run(
        [sys.executable, "-m", "sparkgen", "render", "-q", "-", "-n", namespace],
        input=yaml.safe_dump_all(documents),
        cwd=CONFIGURED,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    objects = [item for item in yaml.safe_load_all(done.stdout) if item["kind"] != lacks]
    scripts = {path.name: path.read_text() for path in APPLICATIONS.glob("*.py")}
    metadata = {"name": "applications", "namespace": namespace}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": scripts}, *objects)


def before_spark() -> list[dict[str, Any]]:
    """Applications whose driver never begins, each named as the code of its reason."""
    wrong: dict[str, dict[str, Any]] = {
        "image": {"image": f"{REPOSITORY}:none"},
        "secret": {"driver": {"secrets": [{"name": "absent", "path": "/opt/secret"}]}},
        "no-node": {"driver": {"coreRequest": "900"}},
        "expired": {"run": {"expiresAt": "2026-01-01T00:00:00Z"}},
        "pod-security": {"driver": {"podSecurityContext": {"runAsNonRoot": False}}},
        "suspended": {"suspend": True},
    }
    return [document(name, VERSION, "ends.py", **spec) for name, spec in wrong.items()]


def at_once() -> list[dict[str, Any]]:
    """Applications whose driver begins, and fails before it needs an executor, named likewise."""
    mounted = {"configMaps": [{"name": "jars", "path": "/opt/jars"}]}
    return [
        jvm("main-class", "org.example.Nobody", EXAMPLES),
        jvm("missing-file", "org.example.Pi", "local:///opt/app/none.jar"),
        jvm("java", "Tomorrow", "local:///opt/jars/tomorrow.jar", driver=mounted),
        document("program", VERSION, "ends.py", "boom"),
    ]
