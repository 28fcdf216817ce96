"""The lock beside a document: its pushed local files, as an overlay with only `artifacts`.

`app.yaml` has `app.lock.yaml`; `sparkgen push` writes it. A file with several documents has one lock with a
part for each, found by kind and name as in the file itself. Only the artifacts of a lock are applied to a
document, not its name, which only tells the document that the part belongs to.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sparkgen.document.node import Node, mapping_node
from sparkgen.document.overlay import merge
from sparkgen.document.parse import parse
from sparkgen.document.sources import LOCK_SUFFIX, STDIN, STDIN_NAME, Found, is_there, shown_name
from sparkgen.errors import Path, Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sparkgen.document.node import Document
    from sparkgen.document.sources import Reader

ARTIFACTS = "artifacts"

_PUSH = "run `sparkgen push`: it rewrites the lock file"
_CONFLICT = re.compile(rb"^(?:[<>|]{7} |={7}\r?$)", re.MULTILINE)

_Owner = tuple[str, str]
"""Kind and metadata.name."""


def lock_of(source: str, environment: str = "") -> str:
    """The name of a document's lock: `apps/app.lock.yaml` for `apps/app.yaml`; "" for standard input.

    With an environment it is `apps/app.ENVIRONMENT.lock.yaml`.
    """
    if source in (STDIN, STDIN_NAME):
        return ""
    stem = re.sub(r"\.ya?ml$", "", source)
    return f"{stem}.{environment}{LOCK_SUFFIX}" if environment else f"{stem}{LOCK_SUFFIX}"


def spec_path(value: Mapping[str, Any]) -> tuple[str, ...]:
    """The path of the application's spec in a document, which contains the artifacts."""
    return ("spec", "template") if value.get("kind") == "ScheduledSparkApplication" else ("spec",)


@dataclass(slots=True)
class Locks:
    """The locks of one command. `named`: the lock for all documents, instead of those beside them, or "".

    `may_lack`: the named lock need not exist yet. `ignored`: the names of locks to treat as empty.
    `problems`: the problems with the locks that were read.
    """

    reader: Reader
    named: str = ""
    may_lack: bool = False
    ignored: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list)
    _read: dict[str, dict[_Owner, list[Node]]] = field(default_factory=dict)
    _seen: Counter[tuple[str, _Owner]] = field(default_factory=Counter)

    def artifacts(self, document: Document) -> Node | None:
        """The artifacts in the lock for a document, which must have no changes yet; None if it has none.

        Call it in the order of a file's documents: several of one name get the parts of that name in turn.
        """
        name = self.named or lock_of(document.source)
        owner = owner_of(document.value)
        if not name or owner is None:
            return None
        if name not in self._read:
            self._read[name] = self._parts(name)
        number = self._seen[document.source, owner]
        self._seen[document.source, owner] += 1
        parts = self._read[name].get(owner, [])
        return parts[number] if number < len(parts) else None

    def lay(self, root: Node, found: Node | None) -> Node:
        """The document with the artifacts of its lock; if it already has some, only those of a named lock."""
        where = spec_path(root.value)
        own = root.find((*where, ARTIFACTS))
        if found is None or (own is not None and own.value is not None and not self.named):
            return root
        return laid(root, found)

    def _parts(self, name: str) -> dict[_Owner, list[Node]]:
        # Checked first: if the file does not exist, read would search the folder for a similar name.
        if shown_name(name) in self.ignored or ((self.may_lack or not self.named) and not is_there(name)):
            return {}
        data = self.reader.read(name if self.named else Found(name))
        if isinstance(data, Problem):
            message = f"the lock file cannot be read: {data.message}"
            self.problems.append(
                Problem("SG017", Severity.ERROR, data.position, (), message, next_step=data.next_step)
            )
            return {}
        if conflict := _CONFLICT.search(data):
            self.problems.append(_conflict(name, data.count(b"\n", 0, conflict.start()) + 1))
            return {}
        parsed = parse(data, shown_name(name))
        wrong = [*parsed.problems, *(one for part in parsed.documents for one in part.problems)]
        self.problems += [replace(one, next_step=_PUSH) for one in wrong if one.severity is Severity.ERROR]
        found: dict[_Owner, list[Node]] = {}
        for root in (part.root for part in parsed.documents if part.root is not None):
            self.problems += others(root)
            owner = owner_of(root.value) if root.is_mapping else None
            artifacts = root.find((*spec_path(root.value), ARTIFACTS)) if root.is_mapping else None
            if owner is not None and artifacts is not None:
                found.setdefault(owner, []).append(artifacts)
        return found


def laid(root: Node, artifacts: Node) -> Node:
    """The document with these artifacts."""
    overlay = artifacts
    for key in reversed((*spec_path(root.value), ARTIFACTS)):
        overlay = mapping_node(artifacts.position, {key: artifacts.position}, {key: overlay})
    return merge(root, overlay)


def others(root: Node) -> Iterator[Problem]:
    """The problems with fields of a lock's part other than the artifacts of one document and its name."""
    if root.value is None:
        return
    if not root.is_mapping:
        yield _not_allowed(root.position, (), "is no part of a lock")
        return
    allowed: set[Path] = {(), ("apiVersion",), ("kind",), ("metadata", "name")}
    whole = (*spec_path(root.value), ARTIFACTS)
    ways = {path[:length] for path in (("metadata", "name"), whole) for length in range(1, len(path))}
    pending: list[tuple[Path, Node]] = [((), root)]
    while pending:
        path, node = pending.pop()
        for key, child in node.entries.items():
            below = (*path, key)
            if below in ways and child.is_mapping:
                pending.append((below, child))
            elif below not in allowed and below != whole:
                yield _not_allowed(node.keys[key], below, "does not belong in a lock file")


def _not_allowed(position: Position, path: Path, message: str) -> Problem:
    return Problem(
        "SG017",
        Severity.ERROR,
        position,
        path,
        message,
        allowed="apiVersion, kind, metadata.name and the artifacts of spec",
        next_step=f"move it to the document or to an overlay; {_PUSH}",
    )


def _conflict(name: str, line: int) -> Problem:
    where = Position(shown_name(name), line, 1)
    message = "the lock file contains merge conflicts"
    return Problem("SG017", Severity.ERROR, where, (), message, next_step=_PUSH)


def owner_of(value: Any) -> _Owner | None:
    """The kind and the name of a document or of a part of a lock; None if one of them is missing."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    kind = value.get("kind") if isinstance(value, dict) else None
    return (kind, name) if isinstance(kind, str) and isinstance(name, str) else None
