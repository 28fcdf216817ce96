"""Service accounts for Spark's own spark-submit and for its drivers."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from cluster.handle import Cluster

NAME = "spark"


def token(cluster: Cluster, namespace: str) -> str:
    """Create the account with all rights that Spark's own backend needs there. Returns its token."""
    cluster.kubectl("create", "serviceaccount", NAME, "-n", namespace)
    grant = ("--clusterrole=edit", f"--serviceaccount={namespace}:{NAME}")
    cluster.kubectl("create", "rolebinding", NAME, "-n", namespace, *grant)
    return cluster.kubectl("create", "token", NAME, "-n", namespace).strip()


def kubeconfig(cluster: Cluster, word: str, path: Path) -> Path:
    """Write a kubeconfig with a token, because fabric8 in spark-submit cannot read every client key."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"] = [{"name": user["name"], "user": {"token": word}} for user in config["users"]]
    path.write_text(json.dumps(config))
    return path
