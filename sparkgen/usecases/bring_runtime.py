"""Creates a ConfigMap with the runtime in a cluster, or checks the one that is there."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from sparkgen.cluster import ClusterError
from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.objects import Object


def bring(cluster: Cluster, item: Object, *, dry_run: bool = False) -> str:
    """Create a ConfigMap with the runtime if it is missing. Returns `created` or `unchanged`.

    Raises SparkgenError if one of its name has other content: its digest is in its name, so somebody has put
    another program there, which would get the allocator's token.
    """
    name, namespace = item["metadata"]["name"], item["metadata"]["namespace"]
    live = cluster.get("v1", "ConfigMap", name, namespace)
    if live is None:
        _create(cluster, item, dry_run=dry_run)
        return "created"
    if live.get("binaryData") == item["binaryData"] and not live.get("data") and live.get("immutable"):
        return "unchanged"
    raise SparkgenError(
        f"the ConfigMap {name} in {namespace} does not have the content that its name says; find out who "
        f"changed it, and delete it: kubectl delete configmap {name} -n {namespace}"
    )


def _create(cluster: Cluster, item: Object, *, dry_run: bool) -> None:
    """Create an object by server-side apply, or without the right to patch."""
    try:
        cluster.apply(item, dry_run=dry_run)
    except ClusterError as error:
        if error.status != HTTPStatus.FORBIDDEN or dry_run:
            raise
        cluster.create(item)
