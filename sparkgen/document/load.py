"""The arguments of a command -> its documents, and every problem with reading them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sparkgen.document.changes import Changes, has_content, read_changes
from sparkgen.document.comments import find_ignores
from sparkgen.document.ignores import Ignore
from sparkgen.document.locks import Locks, owner_of
from sparkgen.document.node import Document, Node
from sparkgen.document.parse import Parsed, parse
from sparkgen.document.setvalues import SetError
from sparkgen.document.sources import GROUP, Found, Reader, expand, read_stdin, shown_name, without_documents
from sparkgen.document.text import shortened
from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sparkgen.document.composer import Composed


_Placed = TypeVar("_Placed", Ignore, Problem)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The documents of a command in the order in which they were given, and the problems with reading them.

    `problems` has all errors, and the warnings about overlays; the warnings about a document's own text are
    in the document. A document with an error in its text is in `documents` if it could be read to its end, so
    that the same run can find its other problems.
    """

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


def load(
    sources: Sequence[str],
    values: Sequence[str] = (),
    sets: Sequence[str] = (),
    set_strings: Sequence[str] = (),
    stdin: Callable[[], bytes] = read_stdin,
    *,
    lock: str = "",
    ignored_locks: frozenset[str] | None = None,
) -> Loaded:
    """Read documents, and apply overlays to each of them. Never raises for bad input.

    `sources`: files, directories, or "-"; `values`: overlay files, first to last; then `sets`, then
    `set_strings`, as in Helm; then each document's lock, or `lock` for all. `stdin` is called at most once.
    If an overlay or a `--set` cannot be read, no document is returned: without the change, checks would
    report problems that the documents do not have. `ignored_locks`: if the caller rewrites locks, the names
    of locks to treat as empty; `lock` then need not exist yet.
    """
    reader = Reader(stdin)
    changes = read_changes(reader, values, sets, set_strings)
    problems = [*changes.problems]
    documents: list[Document] = []
    for name in expand(sources):
        found, wrong = _read(reader, name)
        documents.extend(found)
        problems.extend(wrong)
    locks = Locks(reader, lock, ignored_locks is not None, ignored_locks or frozenset())
    changed, wrong = _change(documents, changes, locks)
    problems.extend((*wrong, *locks.problems))
    problems.extend(defined_twice(identities(changed)))
    return Loaded(tuple(changed), tuple(dict.fromkeys(problems)))


def _read(reader: Reader, name: str) -> tuple[list[Document], list[Problem]]:
    """The documents of a file or of standard input as written, and their problems."""
    data = without_documents(name) or reader.read(name, "document")
    if isinstance(data, Problem):
        return [], [data]
    parsed = parse(data, shown_name(name))
    content = [found for found in parsed.documents if has_content(found)]
    if isinstance(name, Found):
        content = [found for found in content if _is_ours(found)]
    elif not content and not parsed.problems:
        return [], [_empty(shown_name(name))]
    documents, problems = _documents(parsed, content, shown_name(name))
    return documents, [*problems, *parsed.problems]


def _documents(
    parsed: Parsed, content: Iterable[Composed], file: str
) -> tuple[list[Document], list[Problem]]:
    """The documents of `content`, each with the ignore comments in its lines, and their problems."""
    ignores, malformed = find_ignores(parsed, file)
    starts = [found.first_line for found in parsed.documents]
    own_ignores = _by_document(starts, ignores)
    own_malformed = _by_document(starts, malformed)
    documents: list[Document] = []
    problems: list[Problem] = []
    for found in content:
        problems.extend(problem for problem in found.problems if problem.severity is Severity.ERROR)
        if found.root is None or not found.root.is_mapping:
            problems.append(_no_mapping(found.root, file))
            continue
        warnings = [problem for problem in found.problems if problem.severity is Severity.WARNING]
        warnings += own_malformed.get(found.index, ())
        comments = tuple(own_ignores.get(found.index, ()))
        documents.append(_document(found, file, comments, warnings))
    return documents, problems


def _document(found: Composed, file: str, comments: tuple[Ignore, ...], warnings: list[Problem]) -> Document:
    root = found.root
    assert root is not None  # noqa: S101 - the caller has checked
    owner = owner_of(root.value) or ("", "")
    return Document(root, root.value, file, found.index, owner, comments, tuple(warnings))


def _by_document(starts: list[int], things: Iterable[_Placed]) -> dict[int, list[_Placed]]:
    """Ignores or problems by the index of their document; `starts`: the documents' first lines."""
    found: dict[int, list[_Placed]] = {}
    for thing in things:
        found.setdefault(bisect_right(starts, thing.position.line) - 1, []).append(thing)
    return found


def _is_ours(found: Composed) -> bool:
    """Whether a document's apiVersion has sparkgen's group, in any version."""
    version = found.root.entries.get("apiVersion") if found.root is not None else None
    return version is not None and version.text.partition("/")[0] == GROUP


def _change(
    documents: Iterable[Document], changes: Changes, locks: Locks
) -> tuple[list[Document], list[Problem]]:
    """The documents with all changes, without those that a single value does not fit, and the problems."""
    if not changes.complete:
        return [], []
    changed: list[Document] = []
    problems: list[Problem] = []
    for document in documents:
        try:
            root = locks.lay(changes.apply(document.node), locks.artifacts(document))
        except SetError as error:
            problems.append(error.problem)
            continue
        ignores = (*document.ignores, *changes.ignores)
        changed.append(replace(document, node=root, value=root.value, ignores=ignores))
    return changed, problems


@dataclass(frozen=True, slots=True)
class Identity:
    """The kind, namespace and name of a document in a cluster, and the position of its name."""

    kind: str
    namespace: str
    name: str
    position: Position


def identities(documents: Iterable[Document]) -> list[Identity]:
    """The identities of the documents that have one."""
    found: list[Identity] = []
    for document in documents:
        metadata = document.value.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        kind = document.value.get("kind")
        if isinstance(metadata, dict) and isinstance(name, str) and isinstance(kind, str):
            position = document.node.locate(("metadata", "name"))
            found.append(Identity(kind, str(metadata.get("namespace") or ""), name, position))
    return found


def defined_twice(found: Iterable[Identity]) -> list[Problem]:
    """SG019 for each document that would be the same object as an earlier one.

    `load` checks the documents of one call; a caller that splits its documents into several calls of `load`
    must check all of them again.
    """
    first: dict[tuple[str, str, str], Identity] = {}
    problems: list[Problem] = []
    for identity in found:
        known = first.setdefault((identity.kind, identity.namespace, identity.name), identity)
        if known is not identity:
            problems.append(_twice(identity, known))
    return problems


def _twice(identity: Identity, known: Identity) -> Problem:
    return Problem(
        "SG019",
        Severity.ERROR,
        identity.position,
        ("metadata", "name"),
        f"{identity.kind} {identity.name} is defined twice: here and in {known.position}",
        found=identity.name,
        next_step="give one of them another name or namespace, or delete it",
    )


def _empty(file: str) -> Problem:
    step = "write a document; `sparkgen init` creates one to start from"
    return _sg006(Position(file, 1, 1), "the file contains no document", step)


def _no_mapping(root: Node | None, file: str) -> Problem:
    if root is not None and root.is_list:
        step = "separate documents with `---`, instead of `-` before each"
        return _sg006(root.position, "the document must be a mapping, not a list", step)
    position = root.position if root is not None else Position(file, 1, 1)
    message, step = (
        "the document must be a mapping, not a single value",
        "start it with `apiVersion:` and `kind:`",
    )
    return _sg006(position, message, step, shortened(root.text) if root is not None else "")


def _sg006(position: Position, message: str, step: str, found: str = "") -> Problem:
    return Problem("SG006", Severity.ERROR, position, (), message, found=found, next_step=step)
