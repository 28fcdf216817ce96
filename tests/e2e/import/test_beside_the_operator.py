"""What the spark-operator publishes as its examples: imported, and three of them run in both ways.

The examples are read where the operator's pinned source is (tools/go/spark-operator), and are not kept here.
Its controller runs without its webhooks, which give pods the security contexts of these examples, and would
let them into a restricted namespace: so all of it runs in one that lets everything in.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import deploy, wait_until

from cluster import processes
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import LAYOUT
from gotools import gotools
from spark import spark_home, spark_operator
from spark.spark_operator import Operator
from sparkgen.importing import Choices, import_all
from sparkgen.usecases.validate import examine
from tests.unit.importing.accounting import Texts, unaccounted

VERSION = TESTED_VERSIONS[-1]
ACCOUNT = "spark-operator-spark"
"""The account of the examples' drivers, which the operator's chart makes."""
KIND = "sparkapplications.sparkoperator.k8s.io"
DRIVER = "spark-kubernetes-driver"
PLACEHOLDERS = "{IMAGE_REGISTRY}/{IMAGE_REPOSITORY}/"
"""Stands in one of the examples, which is no YAML before somebody writes something in its place."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that has ended well: what its program printed, and its driver's pod."""

    log: str
    pod: Mapping[str, Any]

    def pi(self) -> float:
        """The result, on the line that the program is there for."""
        (found,) = re.findall(r"^Pi is roughly (\d\.\d+)$", self.log, re.MULTILINE)
        return float(found)

    def driver(self) -> Mapping[str, Any]:
        """What of the driver's container has to be the same, whoever starts it."""
        (container,) = [one for one in self.pod["spec"]["containers"] if one["name"] == DRIVER]
        return {name: container[name] for name in ("image", "imagePullPolicy", "resources")}

    def executors(self) -> set[str]:
        """The numbers of the executors that registered."""
        return set(re.findall(r"Registered executor .* with ID (\d+)", self.log))


def examples() -> Path:
    """The folder of the published examples."""
    return gotools.source("spark-operator") / "examples"


def adapted(name: str, namespace: str) -> str:
    """An example in a namespace, with the Spark that the nodes have, and no more work than they can do."""
    text = (examples() / f"{name}.yaml").read_text("utf-8")
    spec = yaml.safe_load(text)["spec"]
    own = {spec["sparkVersion"]: VERSION, "namespace: default\n": f"namespace: {namespace}\n"}
    own |= {f'"{argument}"': '"20"' for argument in spec.get("arguments", ())}
    for theirs, ours in own.items():
        assert theirs in text
        text = text.replace(theirs, ours)
    return text


@pytest.fixture(scope="module")
def operator(cluster: Cluster, images: None) -> Iterator[Operator]:
    """The operator's controller, for as long as these tests take."""
    spark_home.java()
    with spark_operator.running(cluster, spark_home.ensure(VERSION)) as made:
        yield made


@pytest.fixture
def namespace_of_both(cluster: Cluster, namespace: str) -> str:
    """A namespace with the account that the examples name, which may do what Spark's own scheduler does."""
    cluster.kubectl("create", "serviceaccount", ACCOUNT, "-n", namespace)
    grant = ("--clusterrole=edit", f"--serviceaccount={namespace}:{ACCOUNT}")
    cluster.kubectl("create", "rolebinding", ACCOUNT, "-n", namespace, *grant)
    return namespace


def by_operator(cluster: Cluster, operator: Operator, namespace: str, name: str, text: str) -> Ran:
    """Given to the operator, which submits it; deleted when it is complete, as the page on import says."""
    operator.check()
    cluster.kubectl("apply", "-f", "-", input_text=text)
    where = (KIND, name, "-n", namespace)

    def state() -> str:
        operator.check()
        return cluster.kubectl("get", *where, "-o", "jsonpath={.status.applicationState.state}")

    def story() -> str:
        pods = cluster.kubectl("get", "pods", "-n", namespace, "-o", "wide")
        log = processes.last_lines(LAYOUT.logs / "spark-operator.log")
        return "\n".join([cluster.kubectl("get", *where, "-o", "yaml"), pods, log])

    wait_until(lambda: state() in ("COMPLETED", "FAILED"), 300, f"{name} has ended", story)
    assert state() == "COMPLETED", story()
    (pod,) = cluster.objects("pods", namespace, f"sparkoperator.k8s.io/app-name={name},spark-role=driver")
    log = cluster.kubectl("logs", "-n", namespace, pod["metadata"]["name"], "-c", DRIVER)
    cluster.kubectl("delete", *where)
    return Ran(log, pod)


def by_import(cluster: Cluster, namespace: str, text: str, folder: Path) -> Ran:
    """The same text imported, which loses nothing of it, rendered and applied."""
    (folder / "old.yaml").write_text(text, "utf-8")
    command = [str(Path(sys.executable).with_name("sparkgen")), "import", str(folder / "old.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "nothing lost" in done.stderr
    (folder / "app.yaml").write_text(done.stdout, "utf-8")
    application = deploy(cluster, namespace, folder / "app.yaml")
    assert application.wait(300) == "Complete", application.story()
    return Ran(application.logs(), application.driver())


@pytest.mark.full
@pytest.mark.own_cluster
@pytest.mark.parametrize("name", ["spark-pi", "spark-pi-python", "spark-pi-dynamic-allocation"])
def test_a_published_example_runs_in_both_ways(
    name: str, cluster: Cluster, operator: Operator, namespace_of_both: str, tmp_path: Path
) -> None:
    """Of Scala, of Python, and one that scales: the same result of the same driver, with its labels."""
    text = adapted(name, namespace_of_both)
    spec = yaml.safe_load(text)["spec"]
    theirs = by_operator(cluster, operator, namespace_of_both, name, text)
    ours = by_import(cluster, namespace_of_both, text, tmp_path)
    assert abs(theirs.pi() - 3.14) < 0.05
    assert abs(ours.pi() - 3.14) < 0.05
    assert ours.driver() == theirs.driver()
    for ran in (theirs, ours):
        assert spec["driver"].get("labels", {}).items() <= ran.pod["metadata"]["labels"].items()
        assert ran.pod["spec"]["serviceAccountName"] == ACCOUNT
    if "dynamicAllocation" in spec:
        assert 1 <= len(ours.executors()) <= spec["dynamicAllocation"]["maxExecutors"]
    else:
        assert ours.executors() == theirs.executors() == {"1"}


@pytest.mark.full
@pytest.mark.own_cluster
def test_what_was_imported_goes_back_to_the_operator(
    cluster: Cluster, operator: Operator, namespace_of_both: str, tmp_path: Path
) -> None:
    """Imported, exported, and given to the operator: the same result of the same driver."""
    name = "spark-pi-python"
    text = adapted(name, namespace_of_both)
    (tmp_path / "old.yaml").write_text(text, "utf-8")
    (item,) = import_all([str(tmp_path / "old.yaml")], Choices(), examine, lambda: b"").imported
    (tmp_path / "app.yaml").write_text(item.text, "utf-8")
    command = [str(Path(sys.executable).with_name("sparkgen")), "export", "app.yaml", "--to", "kubeflow"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    findings = [line for line in done.stderr.splitlines() if ": lost: " in line or ": chosen: " in line]
    assert findings == []
    back = by_operator(cluster, operator, namespace_of_both, name, done.stdout)
    assert abs(back.pi() - 3.14) < 0.05
    spec = yaml.safe_load(text)["spec"]
    assert spec["driver"].get("labels", {}).items() <= back.pod["metadata"]["labels"].items()
    assert back.pod["spec"]["serviceAccountName"] == ACCOUNT


@pytest.mark.full
def test_every_published_example_is_accounted_for(tmp_path: Path) -> None:
    """Each value of each application and Connect server is carried over, called needless, or reported."""
    seen = 0
    for source in sorted(examples().rglob("*.yaml")):
        path = tmp_path / source.name
        path.write_text(source.read_text("utf-8").replace(PLACEHOLDERS, ""), "utf-8")
        result = import_all([str(path)], Choices(), examine, lambda: b"")
        values = yaml.load_all(path.read_text("utf-8"), Texts)
        kinds = ("SparkApplication", "SparkConnect")
        applications = [value for value in values if value["kind"].endswith(kinds)]
        for value, item in zip(applications, result.imported, strict=True):
            assert (source.name, item.problems) == (source.name, ())
            assert (source.name, unaccounted(value, item)) == (source.name, [])
        seen += len(applications)
    assert seen >= 14, "the operator has fourteen of them at v2.5.2"
