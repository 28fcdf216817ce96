"""The executor template of the modelled application: a short form of the executor.json that is rendered."""

from __future__ import annotations

from typing import Any

from sparkgen import contract
from sparkgen.runtime.allocator.values.attempt import Attempt, new_attempt

MEMORY = 1408
"""MiB of an executor of any profile: driver.NEEDS asks for as much."""
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {contract.LABEL_ROLE: "executor"}},
    "spec": {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": contract.EXECUTOR_CONTAINER,
                "image": "spark",
                "env": [],
                "resources": {"limits": {"memory": f"{MEMORY}Mi"}, "requests": {"memory": f"{MEMORY}Mi"}},
            }
        ],
    },
}


def template(gang: int) -> dict[str, Any]:
    """The template of executors of which `gang` get their nodes together; 0: each gets its node by itself."""
    if not gang:
        return TEMPLATE
    metadata = {**TEMPLATE["metadata"], "annotations": {contract.ANNOTATION_GANG: str(gang)}}
    return {**TEMPLATE, "metadata": metadata}


def attempt() -> Attempt:
    """The attempt of the modelled driver's pod."""
    return new_attempt("nightly", "nightly-1a2b3c4d", "team", "nightly-driver", "uid-driver", "10.0.0.1")


def driver_pod(of: Attempt, state: str) -> dict[str, Any]:
    """The driver's pod while its container is in this state: "running", "waiting" or "terminated"."""
    return {
        "metadata": {"name": of.pod_name, "namespace": of.namespace, "uid": of.pod_uid},
        "status": {
            "phase": "Running",
            "containerStatuses": [{"name": contract.DRIVER_CONTAINER, "state": {state: {}}}],
        },
    }
