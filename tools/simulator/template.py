"""The executor template of the modelled application: a short form of the executor.json that is rendered."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simulator.nodes import POOL
from sparkgen import contract
from sparkgen.names import canonical_json
from sparkgen.runtime.allocator.values.attempt import Attempt, new_attempt
from sparkgen.runtime.allocator.values.settings import AllocationSettings

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


def template(settings: AllocationSettings) -> dict[str, Any]:
    """The template of executors with these settings: with their gang and their pools of nodes, if any."""
    annotations = {}
    if settings.gang:
        annotations[contract.ANNOTATION_GANG] = str(settings.gang)
    if settings.pools:
        pools = [{**asdict(pool), "nodeSelector": {POOL: pool.name}} for pool in settings.pools]
        annotations[contract.ANNOTATION_POOLS] = canonical_json(pools)
    if not annotations:
        return TEMPLATE
    return {**TEMPLATE, "metadata": {**TEMPLATE["metadata"], "annotations": annotations}}


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
