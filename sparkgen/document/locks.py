"""The lock beside a document: what was pushed of its local files, as an overlay of `artifacts` alone.

`app.yaml` has `app.lock.yaml`; `sparkgen push` writes it. A file with several documents has one lock with a
part for each, which is found by kind and name as the file itself has them. Nothing else of a lock is laid on
a document: not its name, which only tells whose it is.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparkgen.document.node import Node, mapping_node
from sparkgen.document.overlay import merge
from sparkgen.document.parse import parse
from sparkgen.document.sources import LOCK_SUFFIX, STDIN, STDIN_NAME, is_there, shown_name
from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkgen.document.node import Document
    from sparkgen.document.sources import Reader

ARTIFACTS = "artifacts"

_Owner = tuple[str, str]
"""Kind and metadata.name."""


def lock_of(source: str, environment: str = "") -> str:
    """The name of a document's lock: `apps/app.yaml` has `apps/app.lock.yaml`, "" for standard input.

    With an environment it is `apps/app.ENVIRONMENT.lock.yaml`.
    """
    if source in (STDIN, STDIN_NAME):
        return ""
    stem = re.sub(r"\.ya?ml$", "", source)
    return f"{stem}.{environment}{LOCK_SUFFIX}" if environment else f"{stem}{LOCK_SUFFIX}"


def spec_path(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Where a document has the application's spec, with the artifacts in it."""
    return ("spec", "template") if value.get("kind") == "ScheduledSparkApplication" else ("spec",)


@dataclass(slots=True)
class Locks:
    """The locks of one call. `named`: the one for all documents, instead of those beside them, or "".

    `may_lack`: the one that is named need not be there yet. `problems`: what was wrong with those that were
    read.
    """

    reader: Reader
    named: str = ""
    may_lack: bool = False
    problems: list[Problem] = field(default_factory=list)
    _read: dict[str, dict[_Owner, list[Node]]] = field(default_factory=dict)
    _seen: Counter[tuple[str, _Owner]] = field(default_factory=Counter)

    def artifacts(self, document: Document) -> Node | None:
        """What the lock has for a document, before anything is laid on it; None for nothing.

        Asked for the documents of a file in their order: two of one name take the parts of that name in turn.
        """
        name = self.named or lock_of(document.source)
        owner = owner_of(document.value)
        if not name or owner is None:
            return None
        if name not in self._read:
            self._read[name] = self._parts(name)
        number = self._seen[document.source, owner]
        self._seen[document.source, owner] += 1
        return next(iter(self._read[name].get(owner, [])[number:]), None)

    def lay(self, root: Node, found: Node | None) -> Node:
        """A document with what its lock has; what an overlay says wins over a lock that nobody named."""
        where = spec_path(root.value)
        own = root.find((*where, ARTIFACTS))
        if found is None or (own is not None and own.value is not None and not self.named):
            return root
        return laid(root, found)

    def _parts(self, name: str) -> dict[_Owner, list[Node]]:
        # Asked first: for a file that is not there, read looks through the folder for a name like it.
        if (self.may_lack or not self.named) and not is_there(name):
            return {}
        data = self.reader.read(name)
        if isinstance(data, Problem):
            message = f"the lock file cannot be read: {data.message}"
            self.problems.append(
                Problem("SG017", Severity.ERROR, data.position, (), message, next_step=data.next_step)
            )
            return {}
        parsed = parse(data, shown_name(name))
        wrong = [*parsed.problems, *(one for part in parsed.documents for one in part.problems)]
        self.problems += [one for one in wrong if one.severity is Severity.ERROR]
        if any("<<<<<<<" in one.found or "=======" in one.found for one in wrong):
            self.problems.append(_conflict(name))
        found: dict[_Owner, list[Node]] = {}
        for root in (part.root for part in parsed.documents if part.root is not None):
            owner = owner_of(root.value) if root.is_mapping else None
            artifacts = root.find((*spec_path(root.value), ARTIFACTS)) if root.is_mapping else None
            if owner is not None and artifacts is not None:
                found.setdefault(owner, []).append(artifacts)
        return found


def laid(root: Node, artifacts: Node) -> Node:
    """A document with these artifacts."""
    overlay = artifacts
    for key in reversed((*spec_path(root.value), ARTIFACTS)):
        overlay = mapping_node(artifacts.position, {key: artifacts.position}, {key: overlay})
    return merge(root, overlay)


def _conflict(name: str) -> Problem:
    step = "run `sparkgen push` again: it rewrites the lock file"
    return Problem(
        "SG017",
        Severity.ERROR,
        Position(name, 1, 1),
        (),
        "the lock file contains merge conflicts",
        next_step=step,
    )


def owner_of(value: Any) -> _Owner | None:
    """The kind and the name of a document or of a part of a lock; None where it has none."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    kind = value.get("kind") if isinstance(value, dict) else None
    return (kind, name) if isinstance(kind, str) and isinstance(name, str) else None
