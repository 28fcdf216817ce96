"""A key that stands twice: the last one counts, as for kubectl, and the other one is a finding."""

from __future__ import annotations

import pytest
import yaml

from sparkgen.importing import Choices, Result, import_all
from sparkgen.importing.entry import Outcome
from sparkgen.usecases.validate import examine

HEAD = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: pi}
spec:
  type: Python
  mode: cluster
  sparkVersion: "3.5.8"
  image: registry.example.com/x:1
  mainApplicationFile: local:///a.py
"""


def imported(text: str) -> Result:
    """What becomes of a text."""
    return import_all(["-"], Choices(), examine, text.encode)


def test_the_last_one_counts() -> None:
    """With its own place in the report, and a finding that names both lines."""
    result = imported(
        f"{HEAD}  driver:\n    cores: 1\n    memory: 1g\n    cores: 2\n"
        "  arguments: ['a']\n  arguments: ['b', 'c']\n"
    )
    assert not result.problems
    [item] = result.imported
    spec = yaml.safe_load(item.text)["spec"]
    assert (spec["driver"]["cores"], spec["driver"]["memory"], spec["arguments"]) == (2, "1g", ["b", "c"])
    found = [entry for entry in item.findings if "duplicate key" in entry.reason]
    assert [(entry.outcome, entry.source, entry.position.line) for entry in found] == [
        (Outcome.LOST, ("spec", "driver", "cores"), 13),
        (Outcome.LOST, ("spec", "arguments"), 15),
    ]
    assert "on lines 11 and 13; the last one is used, as by kubectl" in found[0].reason
    assert "the other is on line 11" in found[0].step
    assert result.has_findings
    assert "# " in item.text.split("apiVersion")[0]
    assert "spec.driver.cores (line 13): duplicate key `cores`" in " ".join(item.text.split("\n# ")).replace(
        "  ", " "
    )


def test_the_whole_of_the_last_one_counts() -> None:
    """A mapping is not merged with the one before it."""
    [item] = imported(f"{HEAD}  executor: {{cores: 1, memory: 1g}}\n  executor: {{instances: 3}}\n").imported
    executor = yaml.safe_load(item.text)["spec"]["executor"]
    assert executor["instances"] == 3
    assert executor.get("memory") != "1g"


@pytest.mark.parametrize("extra", ["  <<: {image: y:2}\n", "  image: z:3\n  <<: {image: y:2}\n"])
def test_what_a_merge_brings_later_counts(extra: str) -> None:
    """As kubectl reads it (go-yaml v2): `<<` behind the key replaces it."""
    result = imported(f"{HEAD}{extra}")
    assert not result.problems
    assert yaml.safe_load(result.imported[0].text)["spec"]["image"] == "y:2"
    assert any(
        "kubectl and Helm replace this `image`" in entry.reason for entry in result.imported[0].findings
    )


def test_items_of_a_list_have_their_own() -> None:
    """A finding stands at the application that it is about."""
    one = HEAD.rstrip().replace("\n", "\n  ")
    result = imported(f"kind: List\nitems:\n- {one}\n- {one}\n    image: other:2\n")
    first, second = result.imported
    assert not [entry for entry in first.findings if "duplicate" in entry.reason]
    assert [entry.source for entry in second.findings if "duplicate" in entry.reason] == [
        ("items", 1, "spec", "image")
    ]


def test_other_documents_do_not_matter() -> None:
    """A Service beside the application is left alone, whatever stands twice in it."""
    result = imported(f"{HEAD}---\nkind: Service\nkind: Service\napiVersion: v1\n")
    assert not result.problems
    assert len(result.imported) == len(result.left_alone) == 1
