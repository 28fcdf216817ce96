"""Compares a document's files with the artifacts that were pushed, without a network. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sparkgen.delivery.pushed import Identity
from sparkgen.delivery.source import source
from sparkgen.delivery.values import Contents, Looked
from sparkgen.phrases import some_of
from sparkgen.semantics.rules_delivery import OTHER_ENTRIES

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """Why a push is needed for an artifact. `kind`: it was never pushed, has changed, or is not needed."""

    artifact: str
    kind: Literal["missing", "changed", "unneeded"]
    reason: str

    def __str__(self) -> str:
        """The difference as a sentence without a full stop: the artifact, and the reason."""
        return f"{self.artifact} {self.reason}"


def differences(
    looked: Looked, artifacts: Any, repository: str, identity: Callable[[Contents], Identity]
) -> Iterator[Difference]:
    """Yields the artifacts that do not match the present files, or that are in another repository.

    `artifacts`: as the document has them; the schema refuses invalid ones. `identity`: packs files, returns
    their identity. It is not called for packages, which need an index and an installer: only their
    requirements are compared.
    """
    listed = artifacts if isinstance(artifacts, list) else ()
    known = {str(one["name"]): one for one in listed if isinstance(one, Mapping) and "name" in one}
    for contents in looked.contents:
        artifact = known.pop(contents.name, None)
        if artifact is None:
            yield Difference(contents.name, "missing", "was not pushed")
        elif reason := _changed(contents, artifact, repository, identity):
            yield Difference(contents.name, "changed", reason)
    for name in known:
        yield Difference(name, "unneeded", "has files that the document does not name")


def _changed(
    contents: Contents,
    artifact: Mapping[str, Any],
    repository: str,
    identity: Callable[[Contents], Identity],
) -> str:
    pushed = artifact.get("files")
    pushed = {str(key): tuple(paths) for key, paths in pushed.items()} if isinstance(pushed, Mapping) else {}
    here = {path for paths in contents.entries.values() for path in paths}
    there = {path for paths in pushed.values() for path in paths}
    for words, paths in (("new: ", here - there), ("gone: ", there - here)):
        if paths:
            return f"differs from what was pushed; {words}{some_of(sorted(paths), _SHOWN)}"
    if pushed != dict(contents.entries):
        return OTHER_ENTRIES
    if artifact.get("source") != source(contents):
        return "has changed since it was pushed"
    pushed_to = str(artifact.get("reference", "")).partition("@")[0]
    if pushed_to != repository:
        return _elsewhere(pushed_to, repository)
    if contents.requirements is None and Identity.of(artifact) != identity(contents):
        return "has files whose digest or size differs from the lock"
    return ""


def _elsewhere(pushed_to: str, repository: str) -> str:
    if not repository:
        return f"was pushed to {pushed_to}, but the document has no `delivery.repository`"
    return f"was pushed to {pushed_to}, not to {repository}" if pushed_to else f"is not in {repository}"
