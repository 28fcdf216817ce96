"""The files that a document adds to Spark's configuration folder (`spec.sparkConfFiles`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen.model.application import ConfFiles, KeyFile


def conf_files(section: Mapping[str, Any]) -> ConfFiles:
    """The document's texts, and its references sorted by file name, so that their order has no effect."""
    texts = {file: given for file, given in sorted(section.items()) if isinstance(given, str)}
    keys = tuple(
        _key_file(file, given) for file, given in sorted(section.items()) if not isinstance(given, str)
    )
    return ConfFiles(texts, keys)


def _key_file(file: str, given: Mapping[str, Any]) -> KeyFile:
    source = given.get("secretKeyRef")
    if source is not None:
        return KeyFile(file, "secret", source["name"], source["key"])
    source = given["configMapKeyRef"]
    return KeyFile(file, "configMap", source["name"], source["key"])
