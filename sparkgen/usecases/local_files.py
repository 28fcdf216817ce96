"""Checks a document's local files, and compares them with their pushed artifacts: SG306 to SG309."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.delivery.compare import Difference, differences
from sparkgen.delivery.limits import DEFAULT_MAX_BYTES
from sparkgen.delivery.look import look
from sparkgen.delivery.pushed import identity
from sparkgen.document.locks import ARTIFACTS, lock_of, spec_path
from sparkgen.document.sources import STDIN, STDIN_NAME
from sparkgen.document.text import shortened
from sparkgen.errors import Problem, Severity
from sparkgen.semantics.findings import Finding
from sparkgen.semantics.local_entries import entries_of, spec_of
from sparkgen.semantics.registry import problem
from sparkgen.semantics.rules_delivery import never_pushed

if TYPE_CHECKING:
    from sparkgen.delivery.values import Looked, Wrong
    from sparkgen.document import Document
    from sparkgen.usecases.inputs import Inputs

_CODES = {"missing": "SG306", "changed": "SG307", "unneeded": "SG307"}


def folder_of(document: Document) -> Path:
    """Returns the folder to which local entries are relative: the file's, or the working directory."""
    return Path() if document.source == STDIN_NAME else Path(document.source).parent


def found(document: Document, inputs: Inputs) -> Looked:
    """Returns the local files that the document names."""
    configured = inputs.configured.max_artifact_bytes if inputs.configured else None
    return look(document.value, folder_of(document), configured or DEFAULT_MAX_BYTES, inputs.work)


def repository_of(document: Document) -> str:
    """Returns `delivery.repository`; "" if the document has none."""
    delivery = spec_of(document.value).get("delivery")
    repository = delivery.get("repository") if isinstance(delivery, dict) else None
    return repository if isinstance(repository, str) else ""


def problems(document: Document, inputs: Inputs) -> list[Problem]:
    """Returns why pods would not get a document's local files, or not as they are now."""
    if inputs.local_files == "unread":
        return [_stale(document, inputs, one) for one in _unpushed(document)]
    looked = found(document, inputs)
    wrong = [_problem(document, one) for one in looked.wrong]
    if inputs.local_files == "present":
        return wrong
    if looked.entries and not repository_of(document):
        wrong.append(without_repository(document))
    if wrong or inputs.local_files == "pushable":
        return wrong
    return [_stale(document, inputs, one) for one in stale(document, looked)]


def _unpushed(document: Document) -> Iterator[Difference]:
    """Yields the artifacts that the document needs and does not have, without reading its files."""
    artifacts = spec_of(document.value).get(ARTIFACTS)
    known = {artifact.get("name") for artifact in artifacts or () if isinstance(artifact, dict)}
    for name in dict.fromkeys(entry.artifact for entry in entries_of(document.value)):
        if name not in known:
            yield Difference(name, "missing", "was not pushed")


def without_repository(document: Document) -> Problem:
    """Returns SG309 for a document with local files and without `delivery.repository`."""
    first = entries_of(document.value)[0]
    finding = Finding(
        first.path,
        "is a local file, but the document names no registry to deliver it from",
        shortened(first.text),
        next_step="add `delivery.repository: REGISTRY/NAME`; for a file in the image, write `local://` "
        "and its absolute path",
    )
    return problem(document.node, "SG309", Severity.ERROR, finding)


def command(document: Document, inputs: Inputs) -> str:
    """Returns the command that pushes the files as they are now."""
    if document.source == STDIN_NAME:
        return "save the document in a file, then: sparkgen push FILE"
    return f"run: {shlex.join(['sparkgen', 'push', document.source, *inputs.options])}"


def lock_name(document: Document, inputs: Inputs) -> str:
    """Returns the path of the document's lock; "" for standard input without --lock."""
    return inputs.lock or lock_of(STDIN if document.source == STDIN_NAME else document.source)


def _problem(document: Document, wrong: Wrong) -> Problem:
    entry = wrong.entry
    finding = Finding(entry.path, wrong.message, shortened(entry.text), wrong.allowed, wrong.next_step)
    return problem(document.node, wrong.code, Severity.ERROR, finding)


def _stale(document: Document, inputs: Inputs, difference: Difference) -> Problem:
    of_artifact = [entry for entry in entries_of(document.value) if entry.artifact == difference.artifact]
    if of_artifact:
        path, text = of_artifact[0].path, of_artifact[0].text
    else:
        path, text = (*spec_path(document.value), ARTIFACTS), difference.artifact
    step = _step(document, inputs, difference)
    finding = Finding(path, _whole(difference), shortened(text), next_step=step)
    return problem(document.node, _CODES[difference.kind], Severity.ERROR, finding)


def _whole(difference: Difference) -> str:
    if difference.kind == "missing":
        return never_pushed(difference.artifact)
    return f"the artifact `{difference.artifact}` {difference.reason}"


def _step(document: Document, inputs: Inputs, difference: Difference) -> str:
    pushed = command(document, inputs)
    if difference.kind == "unneeded":
        return f"delete it from the lock file; {pushed}"
    return f"{pushed}, and commit {lock_name(document, inputs) or 'its lock'}"


def stale(document: Document, looked: Looked) -> Iterator[Difference]:
    """Yields why the document must be pushed; nothing if it is up to date."""
    artifacts = spec_of(document.value).get(ARTIFACTS)
    return differences(looked, artifacts, repository_of(document), identity)
