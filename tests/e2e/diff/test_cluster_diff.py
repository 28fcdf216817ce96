"""`sparkgen diff` with a cluster: server-side dry runs by a real API server, which store nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME

DOCUMENT = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata:
  name: pi
  labels: {team: a}
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: docker.io/apache/spark:3.5.8
  mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
  suspend: true
  executor:
    instances: 2
"""
Sparkgen = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def sparkgen(cluster: Cluster, namespace: str, tmp_path: Path) -> Sparkgen:
    """A function: `sparkgen ARGUMENTS` where app.yaml is, in the test's namespace."""
    (tmp_path / "app.yaml").write_text(DOCUMENT)
    prefix = network.enter(NAME) if cluster.own else []

    def run(*arguments: str, kubeconfig: Path = cluster.kubeconfig) -> subprocess.CompletedProcess[str]:
        options = ["--kubeconfig", str(kubeconfig)] if arguments[0] == "diff" else []
        command = [*prefix, sys.executable, "-m", "sparkgen", *arguments, "-n", namespace, *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    return run


def changed(folder: Path) -> None:
    """More executors, and a label less."""
    text = DOCUMENT.replace("instances: 2", "instances: 5").replace("  labels: {team: a}\n", "")
    (folder / "app.yaml").write_text(text)


@pytest.mark.parametrize("how", [("--server-side",), ()], ids=["server-side", "client-side"])
def test_from_nothing_to_applied_to_changed(
    cluster: Cluster, namespace: str, sparkgen: Sparkgen, tmp_path: Path, how: tuple[str, ...]
) -> None:
    """All is new; all is there; a label that goes and a number that changes are seen. Nothing is stored."""
    first = sparkgen("diff", "--brief", "app.yaml")
    assert (first.returncode, first.stderr) == (1, "")
    assert f"{namespace}/pi (app.yaml): added\n  starts a new run: no: the new run is created" in first.stdout
    assert not cluster.objects("configmaps", namespace, "sparkgen.dev/application=pi")
    cluster.kubectl("apply", *how, "-f", "-", input_text=sparkgen("render", "app.yaml").stdout)

    same = sparkgen("diff", "app.yaml")
    assert (same.returncode, same.stdout) == (0, ""), same.stdout
    before = cluster.objects("configmaps", namespace, "sparkgen.dev/application=pi")
    changed(tmp_path)
    result = sparkgen("diff", "app.yaml")
    assert result.returncode == 1
    assert "executor instances" in result.stdout
    assert "2 -> 5  [same run]" in result.stdout
    assert "-    team: a\n" in result.stdout
    assert "Job pi-" in result.stdout
    assert cluster.objects("configmaps", namespace, "sparkgen.dev/application=pi") == before


def test_what_the_server_refuses_is_said_with_the_object(
    cluster: Cluster, namespace: str, sparkgen: Sparkgen
) -> None:
    """An immutable ConfigMap of the same name, changed by somebody: the rest is compared all the same."""
    objects = list(yaml.safe_load_all(sparkgen("render", "app.yaml").stdout))
    conf = next(item for item in objects if item["metadata"]["name"].endswith("-conf"))
    cluster.apply({**conf, "data": {"spark-defaults.conf": "spark.other true\n"}})
    result = sparkgen("diff", "-o", "json", "app.yaml")
    assert result.returncode == 1, result.stderr
    [application] = json.loads(result.stdout)["applications"]
    refused = {item["newName"]: item["refused"] for item in application["objects"] if "refused" in item}
    assert list(refused) == [conf["metadata"]["name"]]
    assert "field is immutable when `immutable` is set" in refused[conf["metadata"]["name"]]


def test_no_rights_and_wrong_contexts_are_words(
    cluster: Cluster, namespace: str, sparkgen: Sparkgen, tmp_path: Path
) -> None:
    """Exit code 2; the server's own words, and what to do."""
    cluster.kubectl("create", "serviceaccount", "nobody", "-n", namespace)
    token = cluster.kubectl("create", "token", "nobody", "-n", namespace).strip()
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    result = sparkgen("diff", "app.yaml", kubeconfig=path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "is forbidden: User" in result.stderr
    assert "Ask for this permission, or choose another --context or --namespace" in result.stderr
    result = sparkgen("diff", "--context", "nowhere", "app.yaml")
    assert result.returncode == 2
    assert "there is no context nowhere" in result.stderr
