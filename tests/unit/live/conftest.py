"""The commands that look at a cluster, run in this process against an API server that plays answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparkgen.objects import Object
from tests.unit.cli.conftest import Cli, cli
from tests.unit.connection.conftest import Server, kubeconfig, server

__all__ = ["cli", "kubeconfig", "server"]

ROOT = "/api/v1/namespaces/analytics"
KINDS = {
    "Job": "/apis/batch/v1/namespaces/analytics/jobs",
    "CronJob": "/apis/batch/v1/namespaces/analytics/cronjobs",
    "Deployment": "/apis/apps/v1/namespaces/analytics/deployments",
    "Pod": f"{ROOT}/pods",
    "Event": f"{ROOT}/events",
}
Sparkgen = Callable[..., Any]


@pytest.fixture
def sparkgen(cli: Cli, server: Server, kubeconfig: Callable[..., Path]) -> Sparkgen:
    """A function: `sparkgen ARGUMENTS` against a namespace that holds nothing yet."""
    fill(server)
    file = str(kubeconfig(server.address, {"dev": "analytics"}, current="dev"))
    return lambda command, *arguments: cli(command, "--kubeconfig", file, *arguments)


def fill(server: Server, *objects: Object) -> None:
    """Put objects into the namespace, and nothing else."""
    for path in [path for path in server.answers if path.rpartition("/")[0] == f"GET {KINDS['Pod']}"]:
        del server.answers[path]
    for kind, path in KINDS.items():
        own = [one for one in objects if one["kind"] == kind]
        server.answers[f"GET {path}"] = (200, {"items": own})
    for pod in objects:
        if pod["kind"] == "Pod":
            server.answers[f"GET {KINDS['Pod']}/{pod['metadata']['name']}"] = (200, pod)


def refuse(server: Server, path: str) -> None:
    """Have a request refused."""
    server.answers[f"GET {path}"] = (
        403,
        {"kind": "Status", "message": 'x is forbidden: User "me" cannot list'},
    )
