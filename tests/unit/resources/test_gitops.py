"""What a GitOps controller is told: on which objects, for which target, and never where it starts a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]

TARGETS = ("kubectl", "argocd", "flux")
FORMS = (
    ("SparkApplication", {}),
    ("SparkApplication", {"restartPolicy": {"type": "Always"}}),
    ("ScheduledSparkApplication", {}),
)
VERBATIM = "kustomize.toolkit.fluxcd.io/substitute"
OPTIONS = "argocd.argoproj.io/sync-options"


def told(item: dict[str, Any]) -> dict[str, str]:
    """What an object says to Argo CD and Flux."""
    annotations = item["metadata"].get("annotations", {})
    return {key: text for key, text in annotations.items() if "argoproj" in key or "fluxcd" in key}


def kept(item: dict[str, Any]) -> bool:
    """Whether an object is used by a driver that runs, and by one that Git has forgotten."""
    kinds = ("ConfigMap", "Job", "Role", "RoleBinding", "ServiceAccount")
    return item["kind"] in kinds and "-history" not in item["metadata"]["name"]


@pytest.mark.parametrize(("kind", "spec"), FORMS)
def test_kubectl_is_told_nothing(rendered: Make, kind: str, spec: dict[str, Any]) -> None:
    """Without a target, and for kubectl, no object says a word to a controller."""
    assert rendered(kind, **spec).objects == rendered(kind, {"target": "kubectl"}, **spec).objects
    assert not any(told(item).keys() - {VERBATIM} for item in rendered(kind, **spec).objects)


@pytest.mark.parametrize(("kind", "spec"), FORMS)
def test_argo_cd_keeps_what_a_driver_uses(rendered: Make, kind: str, spec: dict[str, Any]) -> None:
    """What a driver uses, and nothing else, is neither pruned nor out of sync; a Job is in the last wave."""
    for item in rendered(kind, {"target": "argocd"}, arguments=["${HOME}"], **spec).objects:
        wanted = {}
        if kept(item):
            wanted = {"argocd.argoproj.io/compare-options": "IgnoreExtraneous", OPTIONS: "Prune=false"}
        if item["kind"] == "Job":
            wanted["argocd.argoproj.io/sync-wave"] = "1000"
            if not kept(item):
                wanted["argocd.argoproj.io/ignore-healthcheck"] = "true"
        assert told(item) == wanted


@pytest.mark.parametrize(("kind", "spec"), FORMS)
def test_flux_keeps_what_a_driver_uses(rendered: Make, kind: str, spec: dict[str, Any]) -> None:
    """What a driver uses, and nothing else, is not pruned; objects that hold `${` are not substituted."""
    for item in rendered(kind, {"target": "flux"}, arguments=["${HOME}"], **spec).objects:
        wanted = {"kustomize.toolkit.fluxcd.io/prune": "disabled"} if kept(item) else {}
        if "${" in json.dumps({**item, "metadata": {}}):
            wanted[VERBATIM] = "disabled"
        assert told(item) == wanted


@pytest.mark.parametrize(("kind", "spec"), FORMS)
def test_a_target_starts_no_run(rendered: Make, kind: str, spec: dict[str, Any]) -> None:
    """Objects differ in their annotations alone: names, specs and pod templates are those of any target.

    What removes ended runs is beside them.
    """

    def bare(target: str) -> list[dict[str, Any]]:
        made = rendered(kind, {"target": target}, arguments=["${HOME}"], **spec)
        objects = [item for item in made.objects if "-history" not in item["metadata"]["name"]]
        names = [{**item["metadata"], "annotations": None} for item in objects]
        return [{**item, "metadata": metadata} for item, metadata in zip(objects, names, strict=True)]

    assert bare("argocd") == bare("flux") == bare("kubectl")


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_forces_a_job(rendered: Make, target: str) -> None:
    """No Force, no Replace: they would delete and run the Job again at every sync."""
    text = json.dumps(rendered(metadata={"target": target}).objects)
    assert "Force=true" not in text
    assert "Replace=true" not in text
    assert "fluxcd.io/force" not in text


def test_what_the_document_says_stands(rendered: Make) -> None:
    """Options of the document come first, ours are added; one that it has itself is not said twice."""
    for own, wanted in (
        ("ServerSideApply=true", "ServerSideApply=true,Prune=false"),
        ("Delete=false, Prune=confirm", "Delete=false, Prune=confirm"),
        ("", "Prune=false"),
    ):
        made = rendered(metadata={"target": "argocd", "annotations": {OPTIONS: own}})
        assert made.workload["metadata"]["annotations"][OPTIONS] == wanted
    wave = {"argocd.argoproj.io/sync-wave": "7"}
    made = rendered(metadata={"target": "argocd", "annotations": wave})
    assert made.workload["metadata"]["annotations"].items() >= wave.items()


def test_a_job_under_gitops_does_not_delete_itself(rendered: Make) -> None:
    """A time to live is left out where a controller would create the Job again; a CronJob's Jobs keep it."""
    lives = {
        target: rendered(metadata={"target": target}, timeToLiveSeconds=60)
        .workload["spec"]
        .get("ttlSecondsAfterFinished")
        for target in TARGETS
    }
    assert lives == {"kubectl": 60, "argocd": None, "flux": None}
    cron = rendered("ScheduledSparkApplication", {"target": "argocd"}, timeToLiveSeconds=60).workload
    assert cron["spec"]["jobTemplate"]["spec"]["ttlSecondsAfterFinished"] == 60


def test_shell_text_is_not_substituted(rendered: Make) -> None:
    """Exactly the objects that hold `${` tell Flux to leave them alone."""
    made = rendered(arguments=["${HOME}"])
    for item in made.objects:
        holds = "${" in json.dumps({**item, "metadata": {}})
        assert (told(item).get(VERBATIM) == "disabled") is holds
    marked = {item["kind"] for item in made.objects if VERBATIM in told(item)}
    assert marked == {"ConfigMap", "Job"}
    assert VERBATIM not in made.driver["metadata"]["annotations"]


def test_who_wants_substitution_gets_it(rendered: Make) -> None:
    """The document's own word on it stands."""
    made = rendered(metadata={"annotations": {VERBATIM: "enabled"}})
    assert made.config_map("conf")["metadata"]["annotations"][VERBATIM] == "enabled"
