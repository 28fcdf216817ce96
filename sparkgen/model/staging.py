"""A staging server as values: a registry of OCI artifacts, for users without a registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.model.runtime import Runtime, runtime
from sparkgen.model.server import Server, server_fields

STAGING_KIND = "SparkStagingServer"
"""The kind of documents that describe a staging server."""

SIDES = ("pull", "push")
"""Who connects to each side: pods, and people who push."""
IMAGE = "docker.io/library/registry:3.1.2"
"""The image of CNCF distribution."""
REPLICAS = 2
"""The replicas of each side: one keeps serving while the other is replaced."""
COLLECTION_DEFAULTS: Mapping[str, Any] = {
    "schedule": "17 3 * * *",
    "graceSeconds": 30 * 86400,
    "dryRun": False,
    "suspend": False,
}
"""The defaults of a section `garbageCollection`: a month, so that a revert in Git still works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagingServer(Server):
    """A document of the kind SparkStagingServer, ready to render. It has no JVM."""

    COMPONENT = contract.STAGING_SERVER
    LABEL = contract.LABEL_STAGING_SERVER

    runtime: Runtime
    replicas: int
    claim: str | None
    s3: Mapping[str, Any] | None
    credentials: str
    tls_secret: str | None
    read_only: bool
    collection: Mapping[str, Any] | None
    """The section `garbageCollection`, with its defaults."""


def build_staging_server(value: Mapping[str, Any], namespace: str | None = None) -> StagingServer:
    """The server that a document describes; `build` does the same for applications."""
    given = {"image": IMAGE, **value["spec"]}
    spec = value["spec"]
    return StagingServer(
        **server_fields({**value, "spec": given}, namespace, None),
        runtime=runtime(spec),
        replicas=spec.get("replicas", REPLICAS),
        claim=spec["storage"].get("claim"),
        s3=spec["storage"].get("s3"),
        credentials=spec["credentials"]["secretName"],
        tls_secret=(spec.get("tls") or {}).get("secretName"),
        read_only=bool(spec.get("readOnly", False)),
        collection=_collection(spec.get("garbageCollection"), bool(spec.get("readOnly", False))),
    )


def _collection(section: Mapping[str, Any] | None, read_only: bool) -> Mapping[str, Any] | None:
    if section is None:
        return None
    given = {**COLLECTION_DEFAULTS, **section}
    # Storage that is read-only must not be changed by the garbage collection either.
    return {**given, "suspend": bool(given["suspend"]) or read_only}
