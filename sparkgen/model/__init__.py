"""The application as values, between the document and the objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen.model.application import Application
from sparkgen.model.build import build
from sparkgen.model.shuffle import SERVICE_KIND, ShuffleService, build_service

__all__ = ["SERVICE_KIND", "Application", "ShuffleService", "build", "build_service", "describe"]


def describe(value: Mapping[str, Any], namespace: str | None = None) -> Application | ShuffleService:
    """What a document describes, whichever its kind is; the arguments are those of `build`."""
    make = build_service if value["kind"] == SERVICE_KIND else build
    return make(value, namespace)
