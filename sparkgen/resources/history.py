"""The Job that removes ended runs, with an account and rights of its own (docs/design/run-identity.md).

One for each run, as its name has a hash of all that it is made of: a new run, or another number of runs to
keep, makes a new one, which looks at everything that is there. It is no part of the run: it has no run label,
and a controller may prune it.
"""

from __future__ import annotations

from sparkgen import contract, names
from sparkgen.model.application import Application
from sparkgen.objects import Object
from sparkgen.resources import pod
from sparkgen.resources.fill import fill
from sparkgen.resources.layers import DEFAULT_RUNTIME_RESOURCES
from sparkgen.resources.object_layers import OBJECT_LAYERS
from sparkgen.resources.objects import granted, metadata_of

HISTORY_RULES: tuple[Object, ...] = (
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["delete", "list"]},
    # Read as metadata only: no content leaves the API server.
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete", "list"]},
)
"""All that it may do, in one namespace."""

MARK_RULE: Object = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["patch"]}
"""For Argo CD: to it a failed Job that is kept is a sick application, unless an annotation says otherwise."""


def history_objects(application: Application, run: str, workload: str) -> tuple[Object, ...]:
    """Account, Role, RoleBinding and Job; none where nothing is removed. `workload`: the driver's kind."""
    if application.history is None:
        return ()
    name = f"{application.name}-{contract.HISTORY}"
    rules = [*HISTORY_RULES, MARK_RULE] if application.target == "argocd" else [*HISTORY_RULES]
    history = application.history
    values = {
        **pod.values(application, application.driver, run),
        "runtimeImage": application.runtime_image,
        "runtimeResources": DEFAULT_RUNTIME_RESOURCES,
        "workload": workload,
        "succeeded": None if history.succeeded is None else str(history.succeeded),
        "failed": None if history.failed is None else str(history.failed),
    }
    spec = fill(OBJECT_LAYERS["history_job"], values)
    job = f"{name}-{names.digest(spec, names.RUN_HASH_LENGTH)}"
    return (
        fill(OBJECT_LAYERS["service_account"], {"metadata": _metadata(application, name)}),
        *granted(_metadata(application, name), rules, name, application.namespace),
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": _metadata(application, job), "spec": spec},
    )


def _metadata(application: Application, name: str) -> Object:
    found = metadata_of(application, name)
    return {**found, "labels": {**found["labels"], contract.LABEL_COMPONENT: contract.HISTORY}}
