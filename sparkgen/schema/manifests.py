"""Kubernetes' schemas of the kinds that sparkgen renders, for each version, as kubeconform reads them.

`schemas/manifests.json` has each definition once, and again only for a version that changed it.
tools/k8s/kubernetes_schemas.py generates the file from the schemas that Kubernetes and the Gateway API
publish.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.errors import SparkgenError
from sparkgen.schema.store import Schema, read

FILE = "manifests.json"
COMMENT = "Written by `sparkgen schema --kubernetes`."
"""A comment in each schema, by which sparkgen recognizes the files that it wrote."""

_VERSION = re.compile(r"v?(1\.[0-9]{1,3})(\.[0-9]{1,3})?")

Versions = Mapping[str, Schema | None]
"""The minor version of each change ("1.30") -> the schema from this version on; None if it was removed."""


def minors() -> tuple[str, ...]:
    """The minor versions for which there are schemas, the oldest first: ("1.30", ...)."""
    return tuple(_table()["kubernetes"])


def files(version: str) -> dict[str, str]:
    """The text of each schema by the path from which kubeconform reads it.

    `version` has a patch or not ("1.33", "1.33.4"). Raises SparkgenError if there are no schemas for it.
    """
    minor, full = _asked(version)
    folder = f"v{full}-standalone-strict"
    return {f"{folder}/{kind}.json": _text(schema) for kind, schema in of_minor(_table(), minor).items()}


def full_version(version: str) -> str:
    """The version as kubeconform needs it: 1.33.0 for 1.33. Raises SparkgenError as `files` does."""
    return _asked(version)[1]


def of_minor(table: Mapping[str, Any], minor: str) -> dict[str, Schema]:
    """The schema of each kind in a minor version, complete: with all definitions that it refers to."""
    known = table["kubernetes"]
    definitions, kinds = (_at(table[part], minor, known) for part in ("definitions", "kinds"))
    return {kind: standalone(schema, definitions) for kind, schema in kinds.items()}


def standalone(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """`schema` with all definitions that it refers to, even indirectly, under its own `$defs`."""
    reached: dict[str, Schema] = {}
    waiting = list(references(schema))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = definitions[name]
            waiting.extend(references(definitions[name]))
    return {**schema, "$defs": dict(sorted(reached.items()))} if reached else schema


def references(value: Any) -> Iterator[str]:
    """The names of the definitions that a schema refers to."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            # JSONSchemaProps has a field named "$ref": its value is a schema, not a reference.
            if name == "$ref" and isinstance(item, str):
                yield item.rpartition("/")[2]
            else:
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


@functools.cache
def _table() -> Schema:
    return read(FILE)


def _at(changes: Mapping[str, Versions], minor: str, known: list[str]) -> dict[str, Schema]:
    """The schemas in a minor version by name: the latest of each that is not newer than the version."""
    until = known[: known.index(minor) + 1]
    found = {name: [versions[one] for one in until if one in versions] for name, versions in changes.items()}
    return {name: last for name, all_ in found.items() if all_ and (last := all_[-1]) is not None}


def _asked(version: str) -> tuple[str, str]:
    """The minor version, and the full one."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise SparkgenError(
            f"--kubernetes {version!r} is not a version: write your cluster's, such as {minors()[-1]}"
        )
    if found[1] not in minors():
        if f"{version}0" in minors():  # YAML reads 1.30 as a number
            raise SparkgenError(
                f'--kubernetes {version}: did you mean {version}0? In YAML, quote it: "{version}0"'
            )
        raise SparkgenError(
            f"--kubernetes {version}: sparkgen has schemas of Kubernetes {minors()[0]} to {minors()[-1]}. "
            "Next: use the nearest version, or install a sparkgen that has yours"
        )
    return found[1], f"{found[1]}{found[2] or '.0'}"


def _text(schema: Schema) -> str:
    return json.dumps({"$comment": COMMENT, **schema}, separators=(",", ":")) + "\n"
