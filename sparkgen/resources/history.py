"""The Job that removes ended runs, with an account and rights of its own (docs/design/run-identity.md).

One for each run, as its name has a hash of all that it is made of: a new run, or another number of runs to
keep, makes a new one, which looks at everything that is there. It is no part of the run: it has no run label,
and a controller may prune it.
"""

from __future__ import annotations

from typing import Any

from sparkgen import contract, names
from sparkgen.model.application import Application
from sparkgen.objects import Object
from sparkgen.resources.layers import DEFAULT_RUNTIME_RESOURCES, field_env
from sparkgen.resources.objects import metadata_of
from sparkgen.resources.pod import picked
from sparkgen.resources.security import POD_SECURITY, RESTRICTED

HISTORY_RULES: tuple[Object, ...] = (
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["delete", "list"]},
    # Read as metadata only: no content leaves the API server.
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete", "list"]},
)
"""All that it may do, in one namespace."""

MARK_RULE: Object = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["patch"]}
"""For Argo CD: to it a failed Job that is kept is a sick application, unless an annotation says otherwise."""

JOB_LIMITS: Object = {"activeDeadlineSeconds": 600, "backoffLimit": 3}


def history_objects(application: Application, run: str, workload: str) -> tuple[Object, ...]:
    """Account, Role, RoleBinding and Job; none where nothing is removed. `workload`: the driver's kind."""
    if application.history is None:
        return ()
    name = f"{application.name}-{contract.HISTORY}"
    rules = [*HISTORY_RULES, MARK_RULE] if application.target == "argocd" else [*HISTORY_RULES]
    spec = {**JOB_LIMITS, "template": _pod(application, run, workload)}
    job = f"{name}-{names.digest(spec, names.RUN_HASH_LENGTH)}"
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": name, "namespace": application.namespace}
    return (
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": _metadata(application, name),
            "automountServiceAccountToken": False,
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "Role",
            "metadata": _metadata(application, name),
            "rules": [dict(rule) for rule in rules],
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": _metadata(application, name),
            "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
            "subjects": [subject],
        },
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": _metadata(application, job), "spec": spec},
    )


def _metadata(application: Application, name: str) -> Object:
    found = metadata_of(application, name)
    return {**found, "labels": {**found["labels"], contract.LABEL_COMPONENT: contract.HISTORY}}


def _pod(application: Application, run: str, workload: str) -> dict[str, Any]:
    """Its pod template. Without the application's label: whoever looks for its pods means the driver's."""
    spec: dict[str, Any] = {
        "serviceAccountName": f"{application.name}-{contract.HISTORY}",
        "automountServiceAccountToken": True,
        "restartPolicy": "Never",
        "enableServiceLinks": False,
        "securityContext": POD_SECURITY,
        **picked(application.driver.spec, "nodeSelector", "tolerations"),
        "containers": [_container(application, run, workload)],
    }
    if application.image_pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in application.image_pull_secrets]
    labels = {
        contract.LABEL_NAME: application.name,
        contract.LABEL_COMPONENT: contract.HISTORY,
        contract.LABEL_MANAGED_BY: "sparkgen",
        "sidecar.istio.io/inject": "false",
    }
    return {"metadata": {"labels": labels, "annotations": {"linkerd.io/inject": "disabled"}}, "spec": spec}


def _container(application: Application, run: str, workload: str) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": contract.HISTORY,
        "image": application.runtime_image,
        "args": [contract.HISTORY],
        "env": _env(application, run, workload),
        "resources": DEFAULT_RUNTIME_RESOURCES,
        "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True},
    }
    if application.image_pull_policy:
        container["imagePullPolicy"] = application.image_pull_policy
    return container


def _env(application: Application, run: str, workload: str) -> list[dict[str, Any]]:
    history = application.history
    keep = {
        contract.ENV_KEEP_SUCCEEDED: history and history.succeeded,
        contract.ENV_KEEP_FAILED: history and history.failed,
    }
    return [
        {"name": contract.ENV_CONTRACT, "value": str(contract.VERSION)},
        {"name": contract.ENV_APPLICATION, "value": application.name},
        {"name": contract.ENV_RUN, "value": run},
        {"name": contract.ENV_WORKLOAD, "value": workload},
        *({"name": name, "value": str(number)} for name, number in keep.items() if number is not None),
        field_env(contract.ENV_POD_NAMESPACE, "metadata.namespace"),
        field_env(contract.ENV_JOB_NAME, "metadata.labels['batch.kubernetes.io/job-name']"),
    ]
