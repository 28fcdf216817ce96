"""The Kubernetes objects of a staging server: CNCF distribution, twice, and its garbage collection."""

from __future__ import annotations

from typing import Any

from sparkgen import contract, names
from sparkgen.model.properties import property_text
from sparkgen.model.staging import SIDES, StagingServer
from sparkgen.objects import Object
from sparkgen.resources import exposure, server
from sparkgen.resources.fill import fill
from sparkgen.resources.layers import DEFAULT_RUNTIME_RESOURCES
from sparkgen.resources.merge import merge
from sparkgen.resources.runtime import runtime_values
from sparkgen.resources.security import POD_SECURITY
from sparkgen.resources.staging_layers import CONFIGURATION, GC, STAGING_LAYERS
from sparkgen.resources.text import static_text

REGISTRY_RESOURCES = {
    "requests": {"cpu": "100m", "memory": "128Mi"},
    "limits": {"memory": "512Mi"},
}
SWEEP_COMMAND = ["registry", "garbage-collect", CONFIGURATION + contract.REGISTRY_GC_FILE]
DRY_RUN = "--dry-run"
LOCKED_COMMAND = [
    *("sh", CONFIGURATION + contract.REGISTRY_PUSH_SCRIPT_FILE),
    CONFIGURATION + contract.REGISTRY_PUSH_FILE,
]
"""With storage on a claim: a lock keeps pushes out while garbage is collected."""
PLAIN_COMMAND = ["registry", "serve", CONFIGURATION + contract.REGISTRY_PUSH_FILE]


def files(staging: StagingServer) -> dict[str, str]:
    """The files of the server's ConfigMap."""
    places = {
        "claim": staging.claim,
        "store": staging.s3,
        "tls": staging.tls_secret,
        "readOnly": staging.read_only,
    }
    wanted = {contract.REGISTRY_PULL_FILE: "registry_pull", contract.REGISTRY_PUSH_FILE: "registry_push"}
    scripts = [contract.REGISTRY_PUSH_SCRIPT_FILE] if staging.claim else []
    if staging.collection:
        wanted[contract.REGISTRY_GC_FILE] = "registry_gc"
        scripts.append(contract.REGISTRY_GC_SCRIPT_FILE)
    filled = {name: fill(STAGING_LAYERS[layer], places) for name, layer in wanted.items()}
    texts = {name: names.canonical_json(value) for name, value in filled.items()}
    return {**texts, **{name: static_text(name) for name in scripts}}


def values(staging: StagingServer) -> dict[str, Any]:
    """The values for the objects' layers (staging_layers.py)."""
    common = server.values(staging, files(staging))
    return {
        **common,
        "pods": {side: _pod_metadata(common["podMetadata"], side) for side in (*SIDES, GC)},
        "pullPeers": server.peers(staging, "pullFrom"),
        "pushPeers": server.peers(staging, "pushFrom"),
        **{
            side: exposure.values(
                staging.spec.get(side) or {},
                common["labels"],
                staging.annotations,
                contract.REGISTRY_PORT,
            )
            for side in SIDES
        },
        "replicas": staging.replicas,
        **runtime_values(staging.runtime),
        "podSecurity": merge(
            # Otherwise, the kubelet changes the group of every file whenever a pod starts.
            {**POD_SECURITY, "fsGroupChangePolicy": "OnRootMismatch"},
            staging.spec.get("podSecurityContext") or {},
        ),
        "resources": merge(REGISTRY_RESOURCES, staging.spec.get("resources") or {}),
        "scheme": "HTTPS" if staging.tls_secret else "HTTP",
        "tls": staging.tls_secret,
        "claim": staging.claim,
        "store": staging.s3,
        "credentials": staging.credentials,
        "pushCommand": LOCKED_COMMAND if staging.claim else PLAIN_COMMAND,
        "gc": _collection(staging),
        "gcPolicy": bool(staging.collection) and common["policy"],
    }


def _pod_metadata(common: Object, side: str) -> Object:
    return {**common, "labels": {**common["labels"], contract.LABEL_STAGING_SIDE: side}}


def _collection(staging: StagingServer) -> Object | None:
    found = staging.collection
    if found is None:
        return None
    return {
        **found,
        "namespaces": ",".join(found["namespaces"]),
        "graceSeconds": str(found["graceSeconds"]),
        "dryRun": property_text(found["dryRun"]),
        "sweep": [*SWEEP_COMMAND, DRY_RUN] if found["dryRun"] else SWEEP_COMMAND,
        "resources": merge(DEFAULT_RUNTIME_RESOURCES, found.get("resources") or {}),
    }
