"""Which entries of a document are files beside it, and which artifact each entry goes into. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen.document.locks import spec_path
from sparkgen.errors import Path
from sparkgen.model.delivery import (
    CODE,
    DELIVERED_LISTS,
    DEPENDENCIES,
    MAIN_FILE_FIELD,
    REQUIREMENTS_FIELD,
    ArtifactName,
    is_local,
)

_LISTS = ("jars", "files", "pyFiles", "archives")
"""Lists of `deps`, in the order of the schema."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A local entry. `field`: mainApplicationFile, or a field of `deps`; `path`: its place in the document.

    `text`: the entry as it is written there.
    """

    field: str
    path: Path
    text: str

    @property
    def artifact(self) -> ArtifactName:
        """The artifact that the entry goes into."""
        others: dict[str, ArtifactName] = {MAIN_FILE_FIELD: CODE, REQUIREMENTS_FIELD: DEPENDENCIES}
        return others.get(self.field) or DELIVERED_LISTS[self.field][0]

    @property
    def pattern(self) -> str:
        """The path or glob, without the folder name of an archive (`#name`)."""
        return self.text.partition("#")[0] if self.field == "archives" else self.text


def spec_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the application's spec; empty if the document has none, or its spec is not a mapping."""
    section: Any = value
    for part in spec_path(value):
        section = section.get(part) if isinstance(section, Mapping) else None
    return section if isinstance(section, Mapping) else {}


def concerned(value: Mapping[str, Any]) -> bool:
    """Whether a document has local entries, or artifacts, which were made from local entries."""
    return bool(entries_of(value) or spec_of(value).get("artifacts"))


def entries_of(value: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Returns a document's local entries, in a fixed order of fields, without values that are no text."""
    return tuple(local_entries(spec_of(value), spec_path(value)))


def local_entries(spec: Mapping[str, Any], root: Path) -> Iterator[Entry]:
    """Yields the local entries of an application's spec. `root`: the path of the spec in its document."""
    main = spec.get(MAIN_FILE_FIELD)
    if isinstance(main, str) and is_local(main):
        yield Entry(MAIN_FILE_FIELD, (*root, MAIN_FILE_FIELD), main)
    deps = spec.get("deps")
    if not isinstance(deps, Mapping):
        return
    for field in _LISTS:
        items = deps.get(field)
        for index, text in enumerate(items if isinstance(items, list) else ()):
            if isinstance(text, str) and is_local(text):
                yield Entry(field, (*root, "deps", field, index), text)
    requirements = deps.get(REQUIREMENTS_FIELD)
    if isinstance(requirements, str):
        yield Entry(REQUIREMENTS_FIELD, (*root, "deps", REQUIREMENTS_FIELD), requirements)
