"""An application as values: the step between the document and the Kubernetes objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sparkgen.model.application import Application
from sparkgen.model.build import build
from sparkgen.model.connect import CONNECT_KIND
from sparkgen.model.historyserver import HISTORY_KIND, build_history_server
from sparkgen.model.server import Server
from sparkgen.model.shuffle import SERVICE_KIND, build_service
from sparkgen.model.staging import STAGING_KIND, build_staging_server

__all__ = [
    "CONNECT_KIND",
    "HISTORY_KIND",
    "SERVER_KINDS",
    "SERVICE_KIND",
    "STAGING_KIND",
    "build",
    "describe",
]

_SERVERS: Mapping[str, Callable[..., Server]] = {
    SERVICE_KIND: build_service,
    HISTORY_KIND: build_history_server,
    STAGING_KIND: build_staging_server,
}
SERVER_KINDS = tuple(_SERVERS)
"""The kinds of documents that describe a server, not an application."""


def describe(value: Mapping[str, Any], namespace: str | None = None) -> Application | Server:
    """The values of a document of any kind; the arguments are those of `build`."""
    return _SERVERS.get(value["kind"], build)(value, namespace)
