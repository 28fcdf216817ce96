"""Webhooks that the API server asks before it takes an executor."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cluster.handle import Cluster
from cluster.plan import LAYOUT


@contextmanager
def webhook(cluster: Cluster, namespace: str, kind: str, *urls: str, **more: Any) -> Iterator[None]:
    """A webhook for the executors of a namespace, at each of these addresses; gone when the block ends."""
    name = f"{namespace}-{kind.lower()}"
    entry = {
        "clientConfig": {"caBundle": authority()},
        "rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "objectSelector": {"matchLabels": {"spark-role": "executor"}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        **more,
    }
    hooks = [
        {**entry, "name": f"hook{number}.sparkgen.dev", "clientConfig": {**entry["clientConfig"], "url": url}}
        for number, url in enumerate(urls)
    ]
    cluster.apply(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": hooks,
        }
    )
    try:
        yield
    finally:
        cluster.kubectl("delete", f"{kind}WebhookConfiguration", name)


def authority() -> str:
    """The cluster's certificate authority, as webhooks' configurations have it."""
    return base64.b64encode((LAYOUT.pki / "ca.crt").read_bytes()).decode()
