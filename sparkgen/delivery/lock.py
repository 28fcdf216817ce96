"""Writes the text of a lock: the pushed artifacts, as an overlay of their document. Pure.

`sparkgen.document.locks` reads locks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparkgen.document.locks import ARTIFACTS, spec_path
from sparkgen.model.delivery import ArtifactName
from sparkgen.schema.identity import API_VERSION
from sparkgen.yamltext import dump

_HEADER = """\
# Written by sparkgen push. Records which files beside {document} were pushed.
# Commit it together with the document. With Helm, pass it as another -f, after the document.
"""
_HEADER_WITH_FILES = """\
# Written by sparkgen push. Contains the files that {document} names, because it names no registry.
# Only Helm needs it: pass it as another -f, after the document.
"""


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact as the schema has it (`spec.artifacts`).

    `place`: where pods get it: a `reference`, or the `contents` of a ConfigMap.
    """

    name: ArtifactName
    place: Mapping[str, Any]
    digest: str
    size: int
    unpacked_size: int
    source: str
    files: Mapping[str, tuple[str, ...]]

    def value(self) -> dict[str, Any]:
        """Returns the artifact as a document has it: field -> value."""
        return {
            "name": self.name,
            **self.place,
            "digest": self.digest,
            "size": self.size,
            "unpackedSize": self.unpacked_size,
            "source": self.source,
            "files": {entry: list(paths) for entry, paths in sorted(self.files.items())},
        }


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a lock for one document: its kind and name as its file has them, and its artifacts."""

    kind: str
    name: str
    artifacts: tuple[Mapping[str, Any], ...]


def text(document: str, parts: Sequence[Part]) -> str:
    """Returns the lock of the documents in a file called `document`; "" if none of them has artifacts."""
    values = [_value(part) for part in parts if part.artifacts]
    if not values:
        return ""
    bodies = [dump(value) for value in values]
    pushed = any("reference" in artifact for part in parts for artifact in part.artifacts)
    header = _HEADER if pushed else _HEADER_WITH_FILES
    return header.format(document=document.replace("\n", " ")) + "---\n".join(bodies)


def _value(part: Part) -> dict[str, Any]:
    value: dict[str, Any] = {"apiVersion": API_VERSION, "kind": part.kind, "metadata": {"name": part.name}}
    inside: dict[str, Any] = {ARTIFACTS: [dict(one) for one in part.artifacts]}
    for key in reversed(spec_path(value)):
        inside = {key: inside}
    return value | inside
