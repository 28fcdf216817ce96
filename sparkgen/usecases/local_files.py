"""Checks a document's local files, and compares them with their artifacts: SG306 to SG309.

Without `delivery.repository`, the artifacts are made here: ConfigMaps of the run contain the files.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkgen.delivery import lock, mounted
from sparkgen.delivery.compare import Difference, differences
from sparkgen.delivery.limits import DEFAULT_MAX_BYTES
from sparkgen.delivery.look import look
from sparkgen.delivery.pushed import identity
from sparkgen.delivery.source import source
from sparkgen.delivery.values import Wrong
from sparkgen.document.locks import ARTIFACTS, laid, lock_of, spec_path
from sparkgen.document.node import node_of
from sparkgen.document.sources import STDIN, STDIN_NAME
from sparkgen.document.text import shortened
from sparkgen.errors import Position, Problem, Severity
from sparkgen.repository import repository_root
from sparkgen.semantics.findings import Finding
from sparkgen.semantics.local_entries import entries_of, spec_of
from sparkgen.semantics.registry import problem
from sparkgen.semantics.rules_delivery import never_pushed
from sparkgen.usecases.git_files import git_files

if TYPE_CHECKING:
    from sparkgen.delivery.values import Contents, Looked
    from sparkgen.document import Document
    from sparkgen.usecases.inputs import Inputs

_CODES = {"missing": "SG306", "changed": "SG307", "unneeded": "SG307"}


def folder_of(document: Document) -> Path:
    """Returns the folder to which local entries are relative: the file's, or the working directory."""
    return Path() if document.source == STDIN_NAME else Path(document.source).parent


def found(document: Document, inputs: Inputs, folder: Path | None = None) -> Looked:
    """Returns the local files that the document names. `folder`: where they are, if not beside it."""
    configured = inputs.configured.max_artifact_bytes if inputs.configured else None
    largest = configured or DEFAULT_MAX_BYTES
    return look(document.value, folder or folder_of(document), largest, inputs.work)


def repository_of(document: Document) -> str:
    """Returns `delivery.repository`; "" if the document has none."""
    delivery = spec_of(document.value).get("delivery")
    repository = delivery.get("repository") if isinstance(delivery, dict) else None
    return repository if isinstance(repository, str) else ""


def checked(document: Document, inputs: Inputs) -> tuple[Document, list[Problem]]:
    """Returns a document, and why pods would not get its local files, or not as they are now.

    A document without a registry and without a lock gets the artifacts of its present files.
    """
    if inputs.local_files == "unread":
        unpushed = () if lacks_contents(document) else _unpushed(document)
        return document, [_stale(document, inputs, one) for one in (*unpushed, *_taken(document))]
    looked = found(document, inputs)
    if inputs.local_files == "present":
        return document, [_problem(document, one) for one in looked.wrong]
    mounts = not repository_of(document)
    unfit = [*mounted.unfit(looked.contents, looked.entries)] if mounts else []
    private = [*_private(looked, folder_of(document))] if mounts and not unfit else []
    if lacks_contents(document) and not private:
        return with_contents(document, looked)
    if wrong := [_problem(document, one) for one in (*looked.wrong, *unfit, *private)]:
        return document, wrong
    if inputs.local_files == "pushable":
        return document, []
    return document, [_stale(document, inputs, one) for one in stale(document, looked)]


def _private(looked: Looked, folder: Path) -> Iterator[Wrong]:
    """Yields the files that manifests would show, and that Git does not have: they may be somebody's own.

    Whoever wrote the document, or an ignore file, may not be who has the file. A file that seems to contain a
    secret must have the bytes that Git has. Without a repository, all files are the user's.
    """
    files = [(one, file) for one in looked.contents for file in one.files]
    if not files or not has_repository(folder):
        return
    known = git_files({Path(file.place): file.secret for _, file in files}, folder)
    step = "add it to Git if a reviewer may read it: git add"
    if known.problem:
        step = f"let git list the files ({known.problem})"
    for one, file in files:
        if Path(file.place) not in known.files:
            of_file = (entry for entry in looked.entries if file.inside in one.entries.get(entry.text, ()))
            entry = next(of_file, looked.entries[0])
            if option := known.hidden.get(Path(file.place)):
                message = f"{file.inside} has changes that git status hides, and manifests would show them"
                yield Wrong(entry, message, shown_again(option, file.place))
            else:
                yield Wrong(entry, f"{file.inside} is not in Git, and manifests would show its content", step)


def shown_again(option: str, place: object) -> str:
    """The step after which git status shows the changes of a file. `option`: of Repository.hidden."""
    return f"run: git update-index {option} {shlex.quote(str(place))}"


def has_repository(folder: Path) -> bool:
    """Whether a folder is in a Git repository."""
    return os.path.lexists(repository_root(folder.resolve()) / ".git")


def lacks_contents(document: Document) -> bool:
    """Whether ConfigMaps are to contain the local files of a document, and it does not have them yet."""
    has = repository_of(document) or spec_of(document.value).get(ARTIFACTS)
    return bool(entries_of(document.value)) and not has


def with_contents(document: Document, looked: Looked) -> tuple[Document, list[Problem]]:
    """Returns a document with its local files as the contents of ConfigMaps, and why they cannot be that."""
    unfit = mounted.unfit(looked.contents, looked.entries)
    if wrong := [_problem(document, one) for one in (*looked.wrong, *unfit)]:
        return document, wrong
    values = [mounted_artifact(one) for one in looked.contents]
    return with_artifacts(document, values, document.source), []


def mounted_artifact(contents: Contents) -> Mapping[str, Any]:
    """Returns the artifact of files that a ConfigMap contains. Reads them; SparkgenError if one changes."""
    made = identity(contents, mounted=True)
    sizes = (made.digest, made.size, made.unpacked_size)
    place = {"contents": made.contents}
    return lock.Artifact(contents.name, place, *sizes, source(contents), contents.entries).value()


def with_artifacts(document: Document, values: Iterable[Mapping[str, Any]], name: str) -> Document:
    """Returns a document as it is if the file called `name` has these artifacts."""
    root = laid(document.node, node_of([dict(one) for one in values], Position(name, 1, 1)))
    return replace(document, node=root, value=root.value)


def _unpushed(document: Document) -> Iterator[Difference]:
    """Yields the artifacts that the document needs and does not have, without reading its files."""
    artifacts = spec_of(document.value).get(ARTIFACTS)
    known = {artifact.get("name") for artifact in artifacts or () if isinstance(artifact, dict)}
    for name in dict.fromkeys(entry.artifact for entry in entries_of(document.value)):
        if name not in known:
            yield Difference(name, "missing", "was not pushed")


def _taken(document: Document) -> Iterator[Difference]:
    """Yields the artifacts whose contents have a key of sparkgen's own files: no push writes one."""
    artifacts = spec_of(document.value).get(ARTIFACTS)
    for artifact in artifacts if isinstance(artifacts, list) else ():
        contents = artifact.get("contents") if isinstance(artifact, dict) else None
        for part in ("data", "binaryData"):
            files = contents.get(part) if isinstance(contents, dict) else None
            if taken := sorted(mounted.RESERVED.intersection(files if isinstance(files, dict) else ())):
                reason = f"has the key {taken[0]}, by which sparkgen finds a file of its own"
                yield Difference(str(artifact.get("name")), "changed", reason)


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
    artifacts, repository = spec_of(document.value).get(ARTIFACTS), repository_of(document)
    return differences(looked, artifacts, repository, partial(identity, mounted=not repository))
