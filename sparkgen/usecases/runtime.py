"""The runtime of documents that name none: a ConfigMap that all applications of a namespace share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sparkgen import __version__, contract
from sparkgen.errors import Position
from sparkgen.jsonvalue import decode
from sparkgen.spark_versions import COMPILED, NEWEST, scala_line

if TYPE_CHECKING:
    from pathlib import Path

    from sparkgen.document import Document
    from sparkgen.image.runtime_files import RuntimeFiles
    from sparkgen.objects import Object
    from sparkgen.preflight import Wanted
    from sparkgen.writers.manifest import Bundle, Manifest

Place = tuple[str, str]
"""The namespace and the name of a ConfigMap with the runtime."""


@cache
def files_of(line: str) -> RuntimeFiles:
    """Returns the runtime for a Scala line; a checkout makes it once. Raises CannotRun if that fails."""
    from sparkgen.image.runtime_files import runtime_files  # noqa: PLC0415 - few documents need it
    from sparkgen.local.view import Plain  # noqa: PLC0415

    return runtime_files(line, os.environ, Plain(sys.stderr))


def write(folder: Path) -> None:
    """Write the files of all Scala versions to a folder. Raises CannotRun if they cannot be made."""
    from sparkgen.image import runtime_files  # noqa: PLC0415 - see files_of
    from sparkgen.local.view import Plain  # noqa: PLC0415

    runtime_files.write(folder, os.environ, Plain(sys.stderr))


def with_runtime(document: Document) -> Document:
    """Returns a document that names its runtime: as it is, or with the ConfigMap of this version."""
    from sparkgen.document import configuration  # noqa: PLC0415 - see validate.py
    from sparkgen.document.node import node_of  # noqa: PLC0415

    if not configuration.lacks_runtime(document):
        return document
    spec: Any = document.value
    for part in configuration.place_of_runtime(document):
        spec = spec[part]
    version = spec.get("sparkVersion")
    line = spec.get("scalaVersion") or (scala_line(version) if version else NEWEST.scala)
    made_here = Position(document.source, 1, 1)
    return configuration.with_field(
        document, configuration.RUNTIME_CONFIG_MAP, node_of(files_of(line).name, made_here)
    )


def own_config_map(described: Any) -> str:
    """Returns the name of the ConfigMap with the runtime, if sparkgen is to write it; "" otherwise.

    `described`: what a document describes. A ConfigMap of another version exists already.
    """
    runtime = getattr(described, "runtime", None)
    name = runtime.config_map if runtime is not None else ""
    return name if _line_of(name) else ""


def _line_of(name: str) -> str:
    """The Scala line of this version's ConfigMap with this name; "" for another one."""
    lines = (line for line in COMPILED if name.startswith(f"{contract.RUNTIME_NAME}-{line}-"))
    return next((line for line in lines if files_of(line).name == name), "")


def config_maps(places: Iterable[Place]) -> list[Object]:
    """Returns the ConfigMaps of these places, each once, sorted."""
    return [files_of(_line_of(name)).config_map(namespace) for namespace, name in sorted({*places}) if name]


def with_own_runtime(wanted: Wanted) -> Wanted:
    """Returns an application with a ConfigMap of its own for the runtime, which goes when it goes."""
    if not wanted.runtime:
        return wanted
    (shared,) = config_maps([(wanted.namespace, wanted.runtime)])
    name = f"{wanted.name}-runtime"
    objects = decode(json.dumps(wanted.objects).replace(wanted.runtime, name))
    labels = {
        contract.LABEL_NAME: wanted.name,
        contract.LABEL_MANAGED_BY: "sparkgen",
        contract.LABEL_APPLICATION: wanted.name,
    }
    metadata = {"name": name, "namespace": wanted.namespace, "labels": labels}
    return replace(wanted, objects=({**shared, "metadata": metadata}, *objects), runtime="")


def manifests(places: Iterable[Place]) -> tuple[Manifest, ...]:
    """Returns the manifests of the ConfigMaps of these places."""
    from sparkgen.writers.manifest import shared_manifests  # noqa: PLC0415 - see validate.py

    return shared_manifests(config_maps(places), version=__version__)


def shared_by(bundles: Iterable[Bundle]) -> tuple[Manifest, ...]:
    """Returns the manifests that these applications share."""
    return manifests((bundle.namespace, bundle.runtime) for bundle in bundles)
