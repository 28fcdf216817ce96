"""Renders an application as Kubernetes objects: pure, from values to plain dicts."""

from __future__ import annotations

from typing import Any

from sparkgen.model.application import Application
from sparkgen.model.historyserver import HistoryServer
from sparkgen.model.server import Server
from sparkgen.model.shuffle import ShuffleService
from sparkgen.model.staging import StagingServer
from sparkgen.resources.gitops import for_target
from sparkgen.resources.historyserver import render_history_server
from sparkgen.resources.objects import application_objects
from sparkgen.resources.order import ordered
from sparkgen.resources.run import files, run_name
from sparkgen.resources.service import render_service
from sparkgen.resources.staging import render_staging_server

__all__ = [
    "render",
    "render_history_server",
    "render_service",
    "render_staging_server",
    "run_name",
    "run_of",
]


def run_of(described: Application | Server) -> str:
    """The name of the run that an application describes now; "" for a server, which has no runs."""
    return run_name(described) if isinstance(described, Application) else ""


def render(described: Application | Server) -> tuple[dict[str, Any], ...]:
    """All objects of an application, or of a server, in the order in which they are applied."""
    if isinstance(described, ShuffleService):
        return render_service(described)
    if isinstance(described, HistoryServer):
        return render_history_server(described)
    if isinstance(described, StagingServer):
        return render_staging_server(described)
    if isinstance(described, Application):
        return _render_application(described)
    raise TypeError(f"nothing renders a {type(described).__name__}")


def _render_application(application: Application) -> tuple[dict[str, Any], ...]:
    run = run_name(application)
    made = application_objects(application, run, files(application, run))
    return tuple(ordered(for_target(item, application.target)) for item in made)
