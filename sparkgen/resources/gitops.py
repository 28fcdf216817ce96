"""What a GitOps controller has to be told: annotations on objects, never inside a pod template.

So they are in no run's hash, and a change of the target runs nothing again. The reasons for each, and what is
left out on purpose, are in docs/gitops.md. Sources: Argo CD, docs/user-guide/{sync-options,compare-options,
sync-waves}.md and controller/state.go; Flux, docs/spec/v1/kustomizations.md of its kustomize-controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.objects import Object

LAST_WAVE = "1000"
"""Argo CD's wave of a Job: a later wave would wait until the Job is done, which can take hours."""

RUN_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "kubectl": {},
    # What an earlier run uses is in Git no more, while its driver may still run: it is kept, and is no
    # difference.
    "argocd": {
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        "argocd.argoproj.io/sync-options": "Prune=false",
    },
    "flux": {"kustomize.toolkit.fluxcd.io/prune": "disabled"},
}
"""Target -> annotations of what a driver uses while it runs."""

JOB_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "kubectl": {},
    "argocd": {"argocd.argoproj.io/sync-wave": LAST_WAVE},
    "flux": {},
}
"""Target -> annotations of a Job."""

HISTORY_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "kubectl": {},
    # Tidying up that fails is no illness of the application; the next run's Job does it.
    "argocd": {"argocd.argoproj.io/ignore-healthcheck": "true"},
    "flux": {},
}
"""Target -> annotations of the Job that removes ended runs."""

LISTS = ("argocd.argoproj.io/compare-options", "argocd.argoproj.io/sync-options")
"""Annotations that are lists with commas, of `Option=value`: ours are appended to those of the document."""

VERBATIM = "kustomize.toolkit.fluxcd.io/substitute"
"""With `disabled`, Flux leaves an object's `${...}` alone: its substitution would blank shell variables."""

KEPT_KINDS = ("ConfigMap", "Job", "PodGroup", "Role", "RoleBinding", "ServiceAccount")
"""What a running driver uses.

The account and its rights are the application's, not a run's; but when the application gets another name,
they leave Git, and a driver without them could create no more executors. The parts of the Job that removes
ended runs are not among them.
"""


def for_target(item: Object, target: str) -> Object:
    """The object with all that `target` needs to be told; what the document says itself stays as it is."""
    metadata = item["metadata"]
    wanted: dict[str, str] = {}
    labels = metadata["labels"]
    of_application = contract.LABEL_APPLICATION in labels  # a shuffle service's objects are not a driver's
    tidies = labels.get(contract.LABEL_COMPONENT) == contract.HISTORY
    if item["kind"] in KEPT_KINDS and of_application and not tidies:
        wanted |= RUN_ANNOTATIONS[target]
    if item["kind"] == "Job":
        wanted |= JOB_ANNOTATIONS[target]
        if contract.LABEL_RUN not in metadata["labels"]:  # it is not the driver's
            wanted |= HISTORY_ANNOTATIONS[target]
    # For kubectl too: a document without a target may well be applied by Flux.
    if target != "argocd" and _has_variable(item):
        wanted[VERBATIM] = "disabled"
    if not wanted:
        return item
    own = metadata.get("annotations", {})
    annotations = {**own, **{key: _joined(key, own.get(key), text) for key, text in wanted.items()}}
    return {**item, "metadata": {**metadata, "annotations": annotations}}


def _joined(key: str, own: str | None, wanted: str) -> str:
    """The text of an annotation: the document's, with our option behind it where it is a list."""
    if own is None:
        return wanted
    given = [option.strip().partition("=")[0] for option in own.split(",")]
    if key not in LISTS or wanted.partition("=")[0] in given:
        return own
    return f"{own},{wanted}" if own.strip() else wanted


def _has_variable(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_variable(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_has_variable(item) for item in value)
    return isinstance(value, str) and "${" in value
