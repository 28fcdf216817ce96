"""The Helm chart that is part of sparkgen: copies it to a folder, or packs it for a registry."""

from __future__ import annotations

from sparkgen.chart.copying import export
from sparkgen.chart.files import NAME, files, version
from sparkgen.chart.packing import archive, package

__all__ = ["NAME", "archive", "export", "files", "package", "version"]
