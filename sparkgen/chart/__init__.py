"""The Helm chart that comes with sparkgen: copied into a folder, or packed for a registry."""

from __future__ import annotations

from sparkgen.chart.copying import export
from sparkgen.chart.files import NAME, files, version
from sparkgen.chart.packing import archive, package

__all__ = ["NAME", "archive", "export", "files", "package", "version"]
