"""Annotations for GitOps controllers, on objects and never inside a pod template.

So they are in no run's hash, and a change of the target starts no new run. docs/gitops.md has the reasons for
each, and what is left out on purpose. Sources: Argo CD, docs/user-guide/{sync-options,compare-options,
sync-waves}.md and controller/state.go; Flux, docs/spec/v1/kustomizations.md of its kustomize-controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.delivery import ARTIFACT_NAMES
from sparkgen.objects import Object

LAST_WAVE = "1000"
"""Argo CD's wave for a Job: a later wave would wait until the Job is finished, which can take hours."""

SYNC_OPTIONS = "argocd.argoproj.io/sync-options"

RUN_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "kubectl": {},
    # Objects of an earlier run are no longer in Git while its driver may still be running: they are kept, and
    # do not count as a difference.
    "argocd": {
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        SYNC_OPTIONS: "Prune=false",
    },
    "flux": {"kustomize.toolkit.fluxcd.io/prune": "disabled"},
}
"""Target -> annotations of the objects that a driver uses while it runs."""

SERVER_SIDE = "ServerSideApply=true"
"""Argo CD's option for the document's own files: its client-side apply copies an object into an annotation,
which has room for 256 KiB."""

KEPT_AFTER_DELETION = "Delete=false"
"""Argo CD's option for objects that stay when their Application is deleted."""

JOB_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "kubectl": {},
    "argocd": {"argocd.argoproj.io/sync-wave": LAST_WAVE},
    "flux": {},
}
"""Target -> annotations of a Job."""

HISTORY_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "kubectl": {},
    # A failed cleanup does not make the application unhealthy; the next run's Job repeats it.
    "argocd": {"argocd.argoproj.io/ignore-healthcheck": "true"},
    "flux": {},
}
"""Target -> annotations of the Job that removes ended runs."""

LISTS = ("argocd.argoproj.io/compare-options", SYNC_OPTIONS)
"""Annotations with comma-separated lists of `Option=value`: ours are appended to those of the document."""

VERBATIM = "kustomize.toolkit.fluxcd.io/substitute"
"""With `disabled`, Flux does not substitute `${...}` in an object: it would empty shell variables."""

KEPT_KINDS = ("ConfigMap", "Job", "PodGroup", "Role", "RoleBinding", "ServiceAccount")
"""The kinds of objects that a running driver uses.

The account and its permissions belong to the application, not to a run. But when the application is renamed,
they leave Git, and a driver without them could create no more executors. The objects of the Job that removes
ended runs are not included.
"""


def for_target(item: Object, target: str) -> Object:
    """The object with the annotations that `target` needs; the document's own annotations stay."""
    metadata = item["metadata"]
    wanted: dict[str, str] = {}
    labels = metadata["labels"]
    of_application = contract.LABEL_APPLICATION in labels  # a shuffle service's objects are not a driver's
    tidies = labels.get(contract.LABEL_COMPONENT) == contract.HISTORY
    if item["kind"] in KEPT_KINDS and of_application and not tidies:
        wanted |= RUN_ANNOTATIONS[target]
        if target == "argocd" and _has_files(metadata):
            wanted[SYNC_OPTIONS] += f",{SERVER_SIDE}"
    if item["kind"] == "Job":
        wanted |= JOB_ANNOTATIONS[target]
        if contract.LABEL_RUN not in metadata["labels"]:  # it is not the driver's
            wanted |= HISTORY_ANNOTATIONS[target]
    # For kubectl, too: Flux may apply a document without a target.
    if target != "argocd" and _has_variable(item):
        wanted[VERBATIM] = "disabled"
    if not wanted:
        return item
    own = metadata.get("annotations", {})
    annotations = {**own, **{key: _joined(key, own.get(key), text) for key, text in wanted.items()}}
    return {**item, "metadata": {**metadata, "annotations": annotations}}


def for_every_target(item: Object) -> Object:
    """The object of several applications, whose targets may differ, as each of their controllers keeps it.

    Also when the Argo CD Application that renders it is deleted: runs of others may use it.
    """
    kept = {key: text for annotations in RUN_ANNOTATIONS.values() for key, text in annotations.items()}
    annotations = {**kept, SYNC_OPTIONS: f"{kept[SYNC_OPTIONS]},{KEPT_AFTER_DELETION},{SERVER_SIDE}"}
    return {**item, "metadata": {**item["metadata"], "annotations": annotations}}


def _joined(key: str, own: str | None, wanted: str) -> str:
    """The text of an annotation: the document's, with our options appended if the annotation is a list."""
    if own is None or key not in LISTS:
        return wanted if own is None else own
    given = [option.strip().partition("=")[0] for option in own.split(",")]
    added = [option for option in wanted.split(",") if option.partition("=")[0] not in given]
    return ",".join([own, *added] if own.strip() else added) if added else own


def _has_files(metadata: Mapping[str, Any]) -> bool:
    """Whether an object is a ConfigMap with files of the document."""
    run = metadata["labels"].get(contract.LABEL_RUN)
    return metadata["name"] in [f"{run}-{name}" for name in ARTIFACT_NAMES]


def _has_variable(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_variable(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_has_variable(item) for item in value)
    return isinstance(value, str) and "${" in value
