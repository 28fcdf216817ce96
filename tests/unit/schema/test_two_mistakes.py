"""The law of validate: a document with two independent mistakes has the findings of each, and no other."""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.document import load
from sparkgen.schema import suggestions
from sparkgen.usecases.validate import examine

BASE: dict[str, Any] = {
    "apiVersion": "sparkgen.dev/v1alpha1",
    "kind": "SparkApplication",
    "metadata": {"name": "pi"},
    "spec": {
        "type": "Python",
        "sparkVersion": "3.5.8",
        "image": "docker.io/apache/spark:3.5.8",
        "mainApplicationFile": "local:///opt/spark/examples/src/main/python/pi.py",
        "driver": {"cores": 1, "memory": "1g", "env": [{"name": "A", "value": "b"}]},
        "executor": {"instances": 2, "memory": "1g"},
    },
}
GONE = object()
MISTAKES: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "fraction of a core": (("executor", "cores"), 0.5),
    "text for a number": (("executor", "instances"), "two"),
    "list for a text": (("image",), ["a"]),
    "map for a list": (("arguments",), {"a": "b"}),
    "null for a map": (("sparkConf",), [None]),
    "number out of range": (("driver", "cores"), 0),
    "wrong choice": (("restartPolicy",), {"type": "Sometimes"}),
    "wrong pattern": (("schedulerName",), "A b"),
    "unknown field": (("executor", "nonsense"), 1),
    "misspelt field": (("driver", "memroy"), "1g"),
    "missing version": (("sparkVersion",), GONE),
    "missing name of a variable": (("driver", "env"), [{"value": "b"}]),
    "wrong version": (("sparkVersion",), 3),
    "unit of Kubernetes": (("executor", "memory"), "1Gi"),
    "unit of Kubernetes in the driver": (("driver", "memoryOverhead"), "1Gi"),
    "reserved property": (("sparkConf",), {"spark.kubernetes.namespace": "x"}),
    "duration": (("activeDeadlineSeconds",), -1),
    "unknown volume": (("executor", "volumeMounts"), [{"name": "x", "mountPath": "/x"}]),
    "bad quantity": (("driver", "memoryLimit"), "1x"),
}


def findings(tmp_path: Path, *names: str) -> set[tuple[str, tuple[str | int, ...], str]]:
    """Codes, paths and messages of a document with these mistakes."""
    value = copy.deepcopy(BASE)
    for name in names:
        path, wrong = MISTAKES[name]
        parent = value["spec"]
        for part in path[:-1]:
            parent = parent[part]
        if wrong is GONE:
            del parent[path[-1]]
        else:
            parent[path[-1]] = wrong
    file = tmp_path / "app.yaml"
    file.write_text(yaml.safe_dump(value, sort_keys=False))
    [document] = load((str(file),)).documents
    return {(one.code, one.path, one.message) for one in examine(document)}


@pytest.mark.parametrize("first", MISTAKES)
def test_two_mistakes_are_told_as_each_of_them(tmp_path: Path, first: str) -> None:
    """None hides another one, and none brings a third; two at the same place are one mistake."""
    alone = {name: findings(tmp_path, name) for name in MISTAKES}
    assert alone[first], "a mistake that nobody finds"
    wrong = {}
    for second in MISTAKES:
        one, other = MISTAKES[first][0], MISTAKES[second][0]
        if one == other:
            continue
        both = findings(tmp_path, first, second)
        if both != alone[first] | alone[second]:
            wrong[second] = both ^ (alone[first] | alone[second])
    assert wrong == {}


def test_there_are_pairs_enough() -> None:
    """As many as the law is worth."""
    paths = [path for path, _ in MISTAKES.values()]
    assert sum(one != other for one, other in itertools.combinations(paths, 2)) > 150


def test_the_right_names_of_a_hundred_unknown_fields_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes milliseconds, and a document may have thousands of them."""
    asked: list[str] = []

    def meant(stray: suggestions.Stray) -> None:
        asked.append(stray.name)

    monkeypatch.setattr(suggestions.Stray, "_meant", meant)
    document = copy.deepcopy(BASE)
    document["spec"]["driver"] |= {f"memroy{number}": 1 for number in range(1_000)}
    document["spec"]["executor"] |= {f"memroy{number}": 1 for number in range(1_000)}
    file = tmp_path / "app.yaml"
    file.write_text(yaml.safe_dump(document))
    (read,) = load([str(file)]).documents
    problems = examine(read)
    assert [problem.code for problem in problems] == ["SG010"] * 2_000
    assert all(problem.next_step.startswith("delete it, or list") for problem in problems)
    assert len(asked) == suggestions.MOST_SUGGESTED
