"""The commands that look at a cluster, run in this process against an API server that plays answers."""

from __future__ import annotations

from tests.unit.cli.conftest import cli
from tests.unit.connection.conftest import kubeconfig, server

__all__ = ["cli", "kubeconfig", "server"]
