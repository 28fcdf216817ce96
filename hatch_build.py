"""What the build of the package asks for: the README as PyPI shows it, and the files of the runtime."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

from docs.pypi import long_description  # noqa: E402 - a neighbour of this file, whatever folder builds it


class CustomMetadataHook(MetadataHookInterface):
    """Fills in `readme`; `SPARKGEN_SOURCE_URL` is the repository that its links lead to."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set what pyproject.toml calls dynamic."""
        source = (ROOT / "sparkgen" / "__init__.py").read_text("utf-8")
        version = re.search(r'^__version__ = "([^"]+)"', source, re.MULTILINE)
        readme = (ROOT / "README.md").read_text("utf-8")
        text = long_description(
            readme, os.environ.get("SPARKGEN_SOURCE_URL", ""), f"v{version[1]}" if version else ""
        )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class CustomBuildHook(BuildHookInterface):
    """Adds the files of the runtime to a wheel: `SPARKGEN_RUNTIME` is a folder of `sparkgen runtime -o`.

    Without the variable, the wheel has none, and sparkgen makes them once on the user's machine.
    """

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Name the files for the wheel."""
        if folder := os.environ.get("SPARKGEN_RUNTIME"):
            build_data["force_include"][str(Path(folder).resolve())] = "sparkgen/_runtime_files"
