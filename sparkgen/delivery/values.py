"""The files that were found for a document, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sparkgen.delivery.requirements import Requirements
from sparkgen.model.delivery import ArtifactName
from sparkgen.semantics.local_entries import Entry

PYTHON = "python/"
"""The folder of `dependencies` with the packages of `requirements`."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file that goes into an artifact. `inside`: its path there; `place`: its real path on this machine.

    `secret`: what secret it seems to contain, if a line of an ignore file allows it all the same; else "".
    """

    inside: str
    place: str
    size: int
    executable: bool
    sha256: str
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why an entry cannot be delivered: the texts of a problem of the rule `code`."""

    entry: Entry
    message: str
    next_step: str
    code: str = "SG308"
    allowed: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of one artifact.

    `files`: sorted by their paths inside; `entries`: an entry as written -> its paths inside; `requirements`:
    the packages whose environment is added.
    """

    name: ArtifactName
    files: tuple[LocalFile, ...]
    entries: Mapping[str, tuple[str, ...]]
    requirements: Requirements | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """A document's local entries, and what was found for them on this machine.

    `left_out`: paths from the repository's root that an ignore file or its built-in patterns leave out.
    """

    entries: tuple[Entry, ...]
    contents: tuple[Contents, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    left_out: tuple[str, ...] = field(default=())
