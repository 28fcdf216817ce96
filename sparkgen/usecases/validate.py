"""Reads the documents of a call, and finds all their problems, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from sparkgen.errors import Path, Problem, Severity, SparkgenError

# Layers are imported by the functions that use them: `explain` reads no documents, and a failed check renders
# nothing.
if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.usecases.inputs import Inputs

    Policy = Callable[[Sequence[Document]], Iterable[Sequence[Problem]]]


@dataclass(frozen=True, slots=True)
class Checked:
    """All documents of a call, and every problem that no comment ignores."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> bool:
        """Whether any problem stops a render."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)


def check(inputs: Inputs, stdin: Callable[[], bytes], policy: Policy | None = None) -> Checked:
    """Read all documents and find everything that is wrong with them. Never raises for bad input.

    `policy` returns the problems of each document, if more than their validity is checked. If files are to be
    pushed, a lock with errors counts as empty: it will be rewritten.
    """
    read = cache(stdin)
    checked = _check(inputs, read, policy, frozenset())
    broken = _broken_locks(checked, inputs)
    return _check(inputs, read, policy, broken) if broken else checked


def _broken_locks(checked: Checked, inputs: Inputs) -> frozenset[str]:
    """Returns the locks with errors that a push rewrites: files with a lock's name that are no overlays."""
    if inputs.local_files != "pushable":
        return frozenset()
    from sparkgen.document.sources import LOCK_SUFFIX  # noqa: PLC0415

    files = {problem.position.file for problem in checked.problems if problem.severity is Severity.ERROR}
    return frozenset(file for file in files - set(inputs.values) if file.endswith(LOCK_SUFFIX))


def _check(
    inputs: Inputs, stdin: Callable[[], bytes], policy: Policy | None, ignored_locks: frozenset[str]
) -> Checked:
    from sparkgen.document import apply_ignores, load  # noqa: PLC0415
    from sparkgen.document.configuration import lay_under  # noqa: PLC0415

    target = (f"metadata.target={inputs.target}",) if inputs.target else ()
    loaded = load(
        inputs.sources,
        inputs.values,
        inputs.sets,
        (*inputs.set_strings, *target),
        stdin,
        lock=inputs.lock,
        ignored_locks=None if inputs.local_files == "pushed" else ignored_locks,
    )
    configured = inputs.settings
    inputs = replace(inputs, configured=configured)
    laid = [lay_under(document, configured) for document in loaded.documents]
    if policy:
        laid = [_with_assumed_runtime(document) for document in laid]
    examined = [_with_files(document, inputs) for document in laid]
    documents = tuple(document for document, _ in examined)
    shared = [ignore for document in documents[:1] for ignore in document.ignores if ignore.shared]
    problems = [*apply_ignores(loaded.problems, shared)[0]]
    per_document = policy(documents) if policy else map(examine, documents)
    asked = policy is not None
    for (document, about_files), document_problems in zip(examined, per_document, strict=True):
        own = [*document.warnings, *document_problems, *about_files]
        problems += apply_ignores(own, document.ignores, policy=asked)[0]
    # A problem in a line of an overlay is reported once, however many documents have the overlay.
    return Checked(documents, tuple(dict.fromkeys(_once(problems))))


def _with_assumed_runtime(document: Document) -> Document:
    """Returns a document with a runtime: for policies, the digest in the ConfigMap's name does not matter."""
    from sparkgen import contract  # noqa: PLC0415 - only for `lint`
    from sparkgen.document import configuration  # noqa: PLC0415
    from sparkgen.document.node import node_of  # noqa: PLC0415

    if not configuration.lacks_runtime(document):
        return document
    name = node_of(contract.RUNTIME_NAME, document.node.position)
    return configuration.with_field(document, configuration.RUNTIME_CONFIG_MAP, name)


def _with_files(document: Document, inputs: Inputs) -> tuple[Document, list[Problem]]:
    """Returns a document with its artifacts, and the problems of its local files or of their artifacts."""
    from sparkgen.semantics.local_entries import concerned  # noqa: PLC0415 - few documents have any

    if not concerned(document.value):
        return document, []
    from sparkgen.usecases.local_files import checked  # noqa: PLC0415

    return checked(document, inputs)


def _once(problems: Iterable[Problem]) -> list[Problem]:
    """Drops other problems of an unreadable value (SG002): they are about sparkgen's placeholder for it."""
    every = list(problems)
    unread = {_place(problem) for problem in every if problem.code == "SG002" and problem.path}
    return [problem for problem in every if problem.code == "SG002" or _place(problem) not in unread]


def _place(problem: Problem) -> tuple[str, int, Path]:
    return problem.position.file, problem.position.line, problem.path


def examine(document: Document) -> list[Problem]:
    """Returns the problems of a document: of its form, and of its meaning as far as its form permits."""
    from sparkgen import schema, semantics  # noqa: PLC0415

    problems = schema.check(document)
    if not problems:
        return semantics.check(document)
    # Imported only for refused documents.
    from sparkgen.schema.repaired import repaired  # noqa: PLC0415

    values = repaired(document, problems)
    meanings = [semantics.check(replace(document, value=value)) for value in values]
    wrong_paths, others = {problem.path for problem in problems}, [*map(set, meanings[1:])]
    return problems + [
        problem
        for problem in (meanings[0] if meanings else ())
        if all(problem in found for found in others)
        and not any(problem.path[:length] in wrong_paths for length in range(len(problem.path) + 1))
    ]


def agree(documents: Iterable[Document], namespace: str) -> None:
    """Raises SparkgenError if a document and the command name different namespaces: one is a mistake."""
    for document in documents:
        named = (document.value.get("metadata") or {}).get("namespace")
        if namespace and named and named != namespace:
            position = document.node.locate(("metadata", "namespace"))
            raise SparkgenError(
                f"{position}: metadata.namespace is {named}, but --namespace is {namespace}; leave one "
                f"of them out, or override the document with --set metadata.namespace={namespace}"
            )
