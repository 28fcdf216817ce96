"""Commands of the differential tests, as documents of kubeflow's operator: both import to the same run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.images import TESTED_VERSIONS
from differential import commands
from differential.commands import Case
from sparkgen import api
from sparkgen.importing import Choices, Imported, import_all
from sparkgen.usecases.validate import examine

TESTS = Path(__file__).parents[2]
DIFFERENTIAL = TESTS / "e2e/differential"
DOCUMENTS = Path(__file__).with_name("kubeflow")
"""What each document says in `spec`, beside what all of them say."""
CASES = commands.read_all(DIFFERENTIAL / "commands")
NOT_SAID = {"configuration-folder": "a document names no folder of the submitting machine"}
"""Commands that no document of kubeflow's operator can say."""
EVERY = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: "@NAME@", namespace: "@NAMESPACE@"}
spec:
  type: Python
  mode: cluster
  sparkVersion: "@VERSION@"
  image: "@IMAGE@"
  mainApplicationFile: local:///opt/probe/probe.py
  driver: {coreRequest: 100m, memory: 600m, serviceAccount: spark}
  executor: {coreRequest: 100m, memory: 600m, instances: 1}
"""
"""What the documents say that `@COMMON@` says of the commands."""


def _only(name: str) -> Imported:
    """The one application in a file."""
    (item,) = import_all([name], Choices(), examine, lambda: b"").imported
    assert item.problems == ()
    return item


def _in_one_form(text: str) -> str:
    """A document in which two things are said in one of their two forms.

    Kubeflow's `hadoopConf` stays a section, and properties `spark.hadoop.*` stay properties; the section also
    renders a core-site.xml. Kubeflow's `executor.envVars` becomes `executor.env`, and properties
    `spark.executorEnv.*` stay properties: the pods get the same variables.
    """
    document = yaml.safe_load(text)
    spec = document["spec"]
    conf = spec.get("sparkConf", {})
    conf |= {f"spark.hadoop.{name}": value for name, value in spec.pop("hadoopConf", {}).items()}
    variables = spec["executor"].pop("env", [])
    conf |= {f"spark.executorEnv.{item['name']}": item["value"] for item in variables if "value" in item}
    references = [item for item in variables if "value" not in item]
    spec["executor"] |= {"env": references} if references else {}
    spec |= {"sparkConf": conf} if conf else {}
    return yaml.safe_dump(document, sort_keys=False)


def _manifests(name: str, folder: Path) -> dict[tuple[str, str], Any]:
    """What is rendered of an application, by kind and name."""
    path = folder / "app.yaml"
    path.write_text(_in_one_form(_only(name).text))
    checked = api.load(api.Inputs((str(path),)))
    assert not checked.errors
    (bundle,) = api.render(checked.documents)
    return {(one.object["kind"], one.object["metadata"]["name"]): one.object for one in bundle.manifests}


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_a_command_and_its_document_are_the_same_run(case: Case, tmp_path: Path) -> None:
    """Byte for byte: names and run hashes too."""
    if case.name in NOT_SAID:
        assert not (DOCUMENTS / f"{case.name}.yaml").exists()
        return
    version = next(filter(case.is_for, reversed(TESTED_VERSIONS)))
    values = {
        "API": "https://api.example.com:6443",
        "NAMESPACE": "ns",
        "WEB": "http://web.example.com",
        "NAME": f"case-{case.name}",
        "IMAGE": f"r.example.com/spark:{version}-probe",
        "VERSION": version,
        "HERE": str(tmp_path),
    }
    shutil.copytree(DIFFERENTIAL / "inputs/here", tmp_path, dirs_exist_ok=True)
    script, document = tmp_path / "submit.sh", tmp_path / "kubeflow.yaml"
    script.write_text(commands.filled(case, values) + "\n")
    document.write_text(_document(case, values))
    assert _manifests(str(document), tmp_path) == _manifests(str(script), tmp_path)


def _document(case: Case, values: dict[str, str]) -> str:
    """A document with what its file says laid on what all say."""
    whole, own = (yaml.safe_load(_filled(text, values)) for text in (EVERY, _own(case)))
    spec = whole["spec"]
    for key, value in own.items():
        spec[key] = {**spec[key], **value} if isinstance(spec.get(key), dict) else value
    return yaml.safe_dump(whole, sort_keys=False)


def _own(case: Case) -> str:
    return (DOCUMENTS / f"{case.name}.yaml").read_text("utf-8")


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text
