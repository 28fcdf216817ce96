"""The application as values, between the document and the objects."""

from __future__ import annotations

from sparkgen.model.application import Application
from sparkgen.model.build import build

__all__ = ["Application", "build"]
