"""The Job that removes ended runs, with its own account and permissions (docs/design/run-identity.md).

There is one for each run, because its name has a hash of everything in it: a new run, or another number of
runs to keep, makes a new Job, which looks at all objects. The Job is not a part of the run: it has no run
label, and a controller may prune it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract, names
from sparkgen.model.application import Application
from sparkgen.resources import pod
from sparkgen.resources.fill import fill
from sparkgen.resources.layers import DEFAULT_RUNTIME_RESOURCES
from sparkgen.resources.object_layers import OBJECT_LAYERS


def history_values(
    application: Application, run: str, workload: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """The values for the Job's objects; `history` is None if nothing is removed.

    `workload` is the kind of the driver's object.
    """
    history = application.history
    if history is None:
        return {"history": None}
    values = {
        **pod.values(application, application.driver, run),
        "runtimeResources": DEFAULT_RUNTIME_RESOURCES,
        "workload": workload,
        **{ended: str(history[ended]) if ended in history else None for ended in ("succeeded", "failed")},
    }
    spec = fill(OBJECT_LAYERS["history_job"], values)
    digest = names.digest(spec, names.RUN_HASH_LENGTH)
    return {
        "history": {"job": f"{application.name}-{contract.HISTORY}-{digest}", "spec": spec},
        "historyLabels": {**labels, contract.LABEL_COMPONENT: contract.HISTORY},
        "marksJobs": application.target == "argocd",
    }
