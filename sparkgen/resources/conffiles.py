"""Spark's configuration folder in the pods: the run's own ConfigMap, and the keys that a document names.

A reference makes a projected volume for Spark's containers. The allocator keeps the run's ConfigMap alone:
it has a token, and needs nobody else's files.
"""

from __future__ import annotations

from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application, KeyFile
from sparkgen.resources.layers import config_map_volume


def conf_volume(application: Application, run: str) -> dict[str, Any]:
    """The folder, as a volume for the Spark container."""
    own = f"{run}-conf"
    if not application.conf_files.keys:
        return config_map_volume(contract.CONF_VOLUME, own)
    sources: list[dict[str, Any]] = [{"configMap": {"name": own}}]
    sources += map(_source, application.conf_files.keys)
    return {"name": contract.CONF_FILES_VOLUME, "projected": {"sources": sources}}


def _source(file: KeyFile) -> dict[str, Any]:
    return {file.kind: {"name": file.name, "items": [{"key": file.key, "path": file.file}]}}
