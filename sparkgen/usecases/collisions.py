"""Finds objects that two documents of one call render: the one applied last would replace the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen.errors import Position, Problem, Severity
from sparkgen.phrases import some_of

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.writers.manifest import Bundle

_SHOWN = 3

Key = tuple[str, str, str]
"""The kind, namespace and name of an object in a cluster."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The objects that a document renders to, and the position of its name."""

    document: str
    position: Position
    objects: frozenset[Key]


def claim(document: Document, objects: Iterable[Mapping[str, Any]]) -> Claim:
    """Returns the claim of a document on the objects that it renders to."""
    keys = frozenset(
        (str(item["kind"]), str(item["metadata"].get("namespace") or ""), str(item["metadata"]["name"]))
        for item in objects
    )
    name = f"{document.value['kind']} {document.value['metadata']['name']}"
    return Claim(name, document.node.locate(("metadata", "name")), keys)


def claims(documents: Sequence[Document], bundles: Sequence[Bundle]) -> list[Claim]:
    """Returns the claim of each document on the objects that it renders to."""
    return [
        claim(document, (manifest.object for manifest in bundle.manifests))
        for document, bundle in zip(documents, bundles, strict=True)
    ]


def shared_objects(found: Iterable[Claim]) -> list[Problem]:
    """Returns SG019 for each document that renders an object of an earlier document."""
    owners: dict[Key, Claim] = {}
    problems: list[Problem] = []
    for own in found:
        shared: dict[Position, list[Key]] = {}
        for key in sorted(own.objects):
            first = owners.setdefault(key, own)
            if first is not own:
                shared.setdefault(first.position, []).append(key)
        problems += [_shared(own, owners[keys[0]], keys) for keys in shared.values()]
    return problems


def _shared(own: Claim, first: Claim, keys: Sequence[Key]) -> Problem:
    names = [f"{kind} {name}" for kind, _, name in keys]
    step = "change the name or the namespace of one of the two"
    if {kind for kind, _, _ in keys} == {"ServiceAccount"}:
        step = "set `serviceAccount.create: false` in one of the two"
    return Problem(
        "SG019",
        Severity.ERROR,
        own.position,
        ("metadata", "name"),
        f"{own.document} renders {some_of(names, _SHOWN)}, and so does {first.document} in {first.position}",
        found=own.document.partition(" ")[2],
        next_step=step,
    )
