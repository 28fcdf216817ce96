"""Renders an application as Kubernetes objects: pure, from values to plain dicts."""

from __future__ import annotations

from typing import Any

from sparkgen.model.application import Application
from sparkgen.model.historyserver import HistoryServer
from sparkgen.model.server import Server
from sparkgen.model.shuffle import ShuffleService
from sparkgen.model.staging import StagingServer
from sparkgen.objects import Object
from sparkgen.resources import fill, historyserver, service, staging
from sparkgen.resources.gitops import for_target
from sparkgen.resources.object_layers import OBJECT_LAYERS
from sparkgen.resources.objects import application_values
from sparkgen.resources.order import ordered
from sparkgen.resources.run import files, run_name
from sparkgen.resources.staging_layers import STAGING_LAYERS

__all__ = ["render", "run_name", "run_of"]


def run_of(described: Application | Server) -> str:
    """The name of the run that an application describes now; "" for a server, which has no runs."""
    return run_name(described) if isinstance(described, Application) else ""


def render(described: Application | Server) -> tuple[Object, ...]:
    """All objects of an application, or of a server, in the order in which they are applied."""
    objects = fill.fill(*_layer_and_values(described))["objects"]
    return tuple(ordered(for_target(item, described.target)) for item in objects)


def _layer_and_values(described: Application | Server) -> tuple[dict[str, Any], dict[str, Any]]:
    match described:
        case Application():
            run = run_name(described)
            values = application_values(described, run, files(described, run))
            return OBJECT_LAYERS["application"], values
        case ShuffleService():
            return OBJECT_LAYERS["service"], service.values(described)
        case HistoryServer():
            return OBJECT_LAYERS["historyServer"], historyserver.values(described)
        case StagingServer():
            return STAGING_LAYERS["stagingServer"], staging.values(described)
    raise TypeError(f"nothing renders a {type(described).__name__}")
