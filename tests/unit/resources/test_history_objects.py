"""The Job that removes ended runs: when it is there, its rights, and its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from k8s import pod_security

Make = Callable[..., Any]


def parts(made: Any) -> dict[str, dict[str, Any]]:
    """The objects of the history Job, by kind."""
    component = "app.kubernetes.io/component"
    return {item["kind"]: item for item in made.objects if item["metadata"]["labels"].get(component)}


@pytest.mark.parametrize(
    ("kind", "metadata", "spec", "kept"),
    [
        ("SparkApplication", {}, {}, None),
        ("SparkApplication", {}, {"run": {"history": {}}}, None),
        ("SparkApplication", {}, {"run": {"history": {"failed": 2}}}, {"FAILED": "2"}),
        ("SparkApplication", {"target": "argocd"}, {}, {"SUCCEEDED": "3", "FAILED": "1"}),
        ("SparkApplication", {"target": "flux"}, {"run": {"history": {"succeeded": 0}}}, {"SUCCEEDED": "0"}),
        ("SparkApplication", {"target": "argocd"}, {"rbac": {"create": False}}, None),
        ("SparkApplication", {}, {"restartPolicy": {"type": "Always"}}, None),
        ("ScheduledSparkApplication", {"target": "flux"}, {}, {"SUCCEEDED": "3", "FAILED": "1"}),
    ],
)
def test_when_it_is_there(
    rendered: Make, kind: str, metadata: dict[str, str], spec: dict[str, Any], kept: dict[str, str] | None
) -> None:
    """Where the document asks for it, and under a controller that is told to prune nothing of a run."""
    found = parts(rendered(kind, metadata, **spec))
    assert [*found] == ([] if kept is None else ["ServiceAccount", "Role", "RoleBinding", "Job"])
    if kept is not None:
        (container,) = found["Job"]["spec"]["template"]["spec"]["containers"]
        env = {item["name"]: item.get("value") for item in container["env"]}
        assert kept == {
            name.removeprefix("SPARKGEN_KEEP_"): text for name, text in env.items() if "_KEEP_" in name
        }


def test_its_rights_are_its_own(rendered: Make) -> None:
    """An account for it alone: no executor, no Secret; Jobs are changed only for Argo CD's sake."""
    found = parts(rendered(metadata={"target": "flux"}))
    assert found["Role"]["rules"] == [
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["delete", "list"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete", "list"]},
    ]
    argo = parts(rendered(metadata={"target": "argocd"}))
    assert [rule["verbs"] for rule in argo["Role"]["rules"]] == [["delete", "list"]] * 2 + [["patch"]]
    assert found["RoleBinding"]["subjects"][0]["name"] == "pi-history"
    assert found["Job"]["spec"]["template"]["spec"]["serviceAccountName"] == "pi-history"
    assert found["ServiceAccount"]["automountServiceAccountToken"] is False
    driver = next(item for item in rendered(metadata={"target": "flux"}).objects if item["kind"] == "Role")
    assert not any("jobs" in rule["resources"] for rule in driver["rules"])


def test_another_run_has_another_job(rendered: Make) -> None:
    """Its name follows the run and the numbers, so that it runs then, and only then; the run's does not."""

    def jobs(**spec: Any) -> list[str]:
        made = rendered(metadata={"target": "flux"}, **spec)
        return [item["metadata"]["name"] for item in made.all("Job")]

    first, other_numbers, other_run = jobs(), jobs(run={"history": {"failed": 7}}), jobs(arguments=["x"])
    assert first[0] == other_numbers[0] != other_run[0]
    assert len({first[1], other_numbers[1], other_run[1]}) == 3
    assert all(name.startswith("pi-history-") for name in (first[1], other_numbers[1], other_run[1]))


def test_it_is_no_part_of_the_run(rendered: Make) -> None:
    """No run label: it may be pruned. Its pod is none of the application's to whoever looks for those."""
    job = parts(rendered(metadata={"target": "argocd"}))["Job"]
    assert "sparkgen.dev/run" not in job["metadata"]["labels"]
    assert "argocd.argoproj.io/sync-options" not in job["metadata"]["annotations"]
    assert "sparkgen.dev/application" not in job["spec"]["template"]["metadata"]["labels"]


def test_it_goes_where_the_driver_goes(rendered: Make) -> None:
    """Registry, nodes and the platform's user are those of the driver."""
    toleration = {"key": "spark", "operator": "Exists"}
    made = rendered(
        metadata={"target": "flux"},
        imagePullSecrets=["registry"],
        driver={"tolerations": [toleration], "nodeSelector": {"pool": "spark"}},
    )
    spec = parts(made)["Job"]["spec"]["template"]["spec"]
    assert spec["tolerations"] == [toleration]
    assert spec["nodeSelector"] == {"pool": "spark"}
    assert spec["imagePullSecrets"] == [{"name": "registry"}]
    assert pod_security.violations(parts(made)["Job"]["spec"]["template"]) == []
