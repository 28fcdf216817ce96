"""The runtime of documents that name none: a ConfigMap that all applications of a namespace share."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sparkgen import __version__, contract
from sparkgen.errors import Position
from sparkgen.jsonvalue import decode
from sparkgen.spark_versions import COMPILED, NEWEST, scala_line

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.image.runtime_files import RuntimeFiles
    from sparkgen.objects import Object
    from sparkgen.preflight import Wanted
    from sparkgen.writers.manifest import Bundle, Manifest

Place = tuple[str, str]
"""The namespace and the name of a ConfigMap with the runtime."""
_MOST_FILES = 20
"""The most files with the name of one runtime that are read in search of it."""
NONE: Mapping[str, RuntimeFiles] = MappingProxyType({})
"""No runtimes of other versions."""


@cache
def files_of(line: str) -> RuntimeFiles:
    """Returns the runtime for a Scala line; a checkout makes it once. Raises CannotRun if that fails."""
    from sparkgen.image.runtime_files import runtime_files  # noqa: PLC0415 - few documents need it
    from sparkgen.local.view import Plain  # noqa: PLC0415

    return runtime_files(line, os.environ, Plain(sys.stderr))


def write(folder: Path) -> None:
    """Write the files of all Scala versions to a folder.

    Raises CannotRun if they cannot be made, SparkgenError if a link leads the folder out of the repository.
    """
    from sparkgen.image import runtime_files  # noqa: PLC0415 - see files_of
    from sparkgen.local.view import Plain  # noqa: PLC0415
    from sparkgen.writers.repository import refuse_way_out  # noqa: PLC0415

    refuse_way_out(folder)
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


def config_map_of(described: Any, *, named: bool) -> tuple[str, str]:
    """Returns the ConfigMap with the runtime: the name of one to write, and of one that exists; "" for none.

    `described`: what a document describes. `named`: whether the document names it; it is then of another
    version, unless this version's is there without being compiled.
    """
    runtime = getattr(described, "runtime", None)
    name = runtime.config_map if runtime is not None else ""
    if not name:
        return "", ""
    from sparkgen.image.runtime_files import line_of, ready  # noqa: PLC0415 - see files_of

    line = line_of(name)
    if not named or (line in COMPILED and ready(os.environ) and files_of(line).name == name):
        return name, ""
    return "", name if line else ""


def kept(directory: Path, names: Iterable[str]) -> dict[str, RuntimeFiles]:
    """Returns the runtimes of other versions that files below a directory contain, by their names.

    The content decides, wherever it is: the name has its digest. Of each name, a few files are read.
    """
    from sparkgen.image.runtime_files import files_in, name_in  # noqa: PLC0415 - see files_of

    found: dict[str, RuntimeFiles] = {}
    left = dict.fromkeys({*names} - {""}, _MOST_FILES)
    for path in directory.rglob("config-map-*.yaml") if left else ():
        if not left.get(name := name_in(path.stem)):
            continue
        if (files := files_in(_item_in(path))) and files.name == name:
            found[name] = files
        left[name] = 0 if name in found else left[name] - 1
    return found


def not_made_here(directory: str, made: Collection[str]) -> list[str]:
    """Returns a sentence for each file below a directory with a runtime that this version has not made.

    `made`: the names of those that it has made. The digest in a name says nothing about who made the content.
    """
    from sparkgen.diff.rendered import is_named, manifest_files  # noqa: PLC0415 - see files_of
    from sparkgen.image.runtime_files import is_shared, name_in  # noqa: PLC0415

    others = []
    for path in manifest_files(Path(directory)):
        if is_named(path.name):  # anybody can give the file of a runtime another name of this kind
            shared = is_shared(item := _item_in(path))
            if item["metadata"]["name"] not in made if shared else name_in(path.stem):
                others.append(path)
    return [
        f"{path.as_posix()}: this version of sparkgen has not made this runtime; to check it, run: "
        f"sparkgen verify {shlex.quote(directory)}"
        for path in sorted(others)
    ]


def _item_in(path: Path) -> Any:
    """Returns the object in a file that may be a rendered runtime; else None. Links are not followed."""
    from sparkgen.diff.rendered import runtime_in  # noqa: PLC0415 - see files_of
    from sparkgen.writers.tree import text_of  # noqa: PLC0415

    return runtime_in(text_of(path))


def config_maps(places: Iterable[Place], found: Mapping[str, RuntimeFiles] = NONE) -> list[Object]:
    """Returns the ConfigMaps of these places, each once, sorted. `found`: those of other versions."""
    return [_files(name, found).config_map(namespace) for namespace, name in sorted({*places}) if name]


def _files(name: str, found: Mapping[str, RuntimeFiles]) -> RuntimeFiles:
    from sparkgen.image.runtime_files import line_of  # noqa: PLC0415 - see files_of

    return found[name] if name in found else files_of(line_of(name))


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


def manifests(places: Iterable[Place], found: Mapping[str, RuntimeFiles] = NONE) -> tuple[Manifest, ...]:
    """Returns the manifests of the ConfigMaps of these places. `found`: those of other versions."""
    from sparkgen.writers.manifest import shared_manifests  # noqa: PLC0415 - see validate.py

    return shared_manifests(config_maps(places, found), version=__version__)


def shared_by(bundles: Sequence[Bundle], directory: str = "") -> tuple[Manifest, ...]:
    """Returns the manifests that these applications share, with those that they still need in a directory."""
    found = kept(Path(directory), (bundle.pinned for bundle in bundles)) if directory else {}
    places = [(bundle.namespace, bundle.runtime) for bundle in bundles]
    places += [(bundle.namespace, bundle.pinned) for bundle in bundles if bundle.pinned in found]
    return manifests(places, found)
