"""Annotations and labels that commands set on objects in a cluster, and the controllers of an object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from sparkgen.cluster.errors import ClusterError

if TYPE_CHECKING:
    from sparkgen.cluster.connection import ApplyResult, Cluster

REQUESTED = "sparkgen.dev/requested"
"""Label of objects that `sparkgen run` created: no document renders them, and no Git repository has them."""
REQUEST_ID = "sparkgen.dev/request-id"
"""Annotation of such a Job: the value of `--id`; the same id means the same run."""
REQUEST_ARGUMENTS = "sparkgen.dev/request-arguments"
"""Annotation of such a Job: its arguments, as a JSON list."""

KILLER = "sparkgen-kill"
"""The field manager (server-side apply) of the fields that end a run."""

OURS = frozenset((KILLER, "sparkgen", "kubectl-client-side-apply"))
"""Managers whose fields an apply takes over without `force`: our own, and that of
`sparkgen render | kubectl apply`, as `kubectl apply --server-side` does."""
_MODIFIED = "the object has been modified"
"""Source: registry.OptimisticLockErrorMsg of k8s.io/apiserver."""
_MANAGER = re.compile(r'conflicts? with "([^"]+)"')

_ARGO_TRACKING = "argocd.argoproj.io/tracking-id"
_FLUX = "kustomize.toolkit.fluxcd.io/name"
_FLUX_HELM = "helm.toolkit.fluxcd.io/name"
_HELM = "meta.helm.sh/release-name"
_INSTANCE = "app.kubernetes.io/instance"
TRACKING = frozenset(
    (
        *(_ARGO_TRACKING, "argocd.argoproj.io/installation-id", _INSTANCE),
        *(_FLUX, "kustomize.toolkit.fluxcd.io/namespace"),
        *(_FLUX_HELM, "helm.toolkit.fluxcd.io/namespace"),
        *(_HELM, "meta.helm.sh/release-namespace"),
    )
)
"""Labels and annotations by which controllers find the objects that they apply."""
_ARGO_MANAGERS = ("argocd-controller", "argocd-application-controller")


def controller_of(item: Mapping[str, Any]) -> str:
    """Returns the controller that reverts manual changes to an object, as `Argo CD (application pi)`, or "".

    Sources: Argo CD, docs/user-guide/resource_tracking.md; Flux, kustomize-controller's and helm-controller's
    owner labels; Helm, "labels and annotations" of its best practices.
    """
    metadata = item["metadata"]
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    if tracked := annotations.get(_ARGO_TRACKING):
        return f"Argo CD (application {str(tracked).partition(':')[0]})"
    managers = {str(entry.get("manager")) for entry in metadata.get("managedFields") or ()}
    if managers.intersection(_ARGO_MANAGERS):
        return f"Argo CD (application {labels.get(_INSTANCE, 'unknown')})"
    if name := labels.get(_FLUX):
        return f"Flux (Kustomization {name})"
    if name := labels.get(_FLUX_HELM):
        return f"Flux (HelmRelease {name})"
    if name := annotations.get(_HELM):
        return f"Helm (release {name})"
    return ""


def apply_over(
    cluster: Cluster, item: Mapping[str, Any], *, dry_run: bool = False, force: bool = False
) -> ApplyResult:
    """Apply an object, and take over fields if all that conflict are of the managers in OURS."""
    try:
        return cluster.apply(item, dry_run=dry_run, force=force)
    except ClusterError as error:
        if error.status != 409 or not ours(str(error)):
            raise
        return cluster.apply(item, dry_run=dry_run, force=True)


def is_stale(error: ClusterError) -> bool:
    """Whether a request was refused because the object has changed since its `resourceVersion` was read."""
    return error.status == HTTPStatus.CONFLICT and _MODIFIED in str(error)


def ours(conflict: str) -> bool:
    """Whether all managers that the server's message about a conflict names are in OURS."""
    managers = set(_MANAGER.findall(conflict))
    return bool(managers) and managers <= OURS
