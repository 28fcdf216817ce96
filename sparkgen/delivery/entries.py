"""Which entries of a document are files beside it, and which artifact each of them goes into. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sparkgen.errors import Path

LOCAL = ("./", "../")
"""What a local entry begins with. Everything else is a URL, or a path of the image."""

ArtifactName = Literal["code", "dependencies"]
CODE: ArtifactName = "code"
DEPENDENCIES: ArtifactName = "dependencies"

MAIN = "mainApplicationFile"
REQUIREMENTS = "requirements"
_LISTS = ("jars", "files", "pyFiles", "archives")
_OF_CODE = (MAIN, "files", "pyFiles")


@dataclass(frozen=True, slots=True)
class Entry:
    """A local entry. `field`: mainApplicationFile, or one of `deps`; `path`: its place in the document.

    `text`: as it is written there.
    """

    field: str
    path: Path
    text: str

    @property
    def artifact(self) -> ArtifactName:
        """The artifact that it goes into."""
        return CODE if self.field in _OF_CODE else DEPENDENCIES

    @property
    def pattern(self) -> str:
        """The path or glob, without the name that an archive gets when it is unpacked."""
        return self.text.partition("#")[0] if self.field == "archives" else self.text


def is_local(text: object) -> bool:
    """Whether a text of a list or of the main file names a file beside the document."""
    return isinstance(text, str) and text.startswith(LOCAL)


def spec_path(value: Mapping[str, Any]) -> Path:
    """Where a document has the application's spec."""
    return ("spec", "template") if value.get("kind") == "ScheduledSparkApplication" else ("spec",)


def spec_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The application's spec; empty where the document has none, or something else in its place."""
    found: Any = value
    for part in spec_path(value):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def concerned(value: Mapping[str, Any]) -> bool:
    """Whether a document has local entries, or artifacts that were made of some."""
    return bool(entries_of(value) or spec_of(value).get("artifacts"))


def entries_of(value: Mapping[str, Any]) -> tuple[Entry, ...]:
    """The local entries of a document, in its order of fields. What is no text is the schema's to refuse."""
    return tuple(_entries(spec_of(value), spec_path(value)))


def _entries(spec: Mapping[str, Any], root: Path) -> Iterator[Entry]:
    main = spec.get(MAIN)
    if isinstance(main, str) and is_local(main):
        yield Entry(MAIN, (*root, MAIN), main)
    deps = spec.get("deps")
    if not isinstance(deps, Mapping):
        return
    for field in _LISTS:
        items = deps.get(field)
        for index, text in enumerate(items if isinstance(items, list) else ()):
            if isinstance(text, str) and is_local(text):
                yield Entry(field, (*root, "deps", field, index), text)
    requirements = deps.get(REQUIREMENTS)
    if isinstance(requirements, str):
        yield Entry(REQUIREMENTS, (*root, "deps", REQUIREMENTS), requirements)
