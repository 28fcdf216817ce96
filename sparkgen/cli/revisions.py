"""Reads the applications that documents describe at two points of a Git history."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.request import Request
from sparkgen.delivery.globs import MAGIC
from sparkgen.delivery.ignore import FILE_NAME as IGNORE_FILE
from sparkgen.diff.revision_files import WORK_TREE, Point, documents, named_files, parts_in
from sparkgen.document import configuration
from sparkgen.document.configuration import FILE_NAME, Configured
from sparkgen.document.locks import lock_of
from sparkgen.errors import Problem, Severity, SparkgenError
from sparkgen.semantics.local_entries import entries_of
from sparkgen.usecases import local_files
from sparkgen.usecases.validate import agree, check, examine

if TYPE_CHECKING:
    from sparkgen.diff.git import Repository
    from sparkgen.diff.values import Side
    from sparkgen.document import Document


NOT_COMPARED = "cannot compare: the errors above must be fixed first"


@dataclass(frozen=True, slots=True)
class Unit:
    """A file with documents, and the overlays for it, all with name and content.

    `name`: a Found if the file was found in a directory.
    `environment`: the environment of the overlays, with -R; else "". `runtime`: from the repository's
    configuration, or "". `lock`: name and content of its lock file; the name is "" if there is none.
    """

    name: str
    data: bytes
    overlays: tuple[tuple[str, bytes], ...] = ()
    environment: str = ""
    runtime: tuple[str, ...] = ()
    lock: tuple[str, bytes] = ("", b"")


def points(where: Repository, old: str, new: str, *, merge_base: bool) -> tuple[Point, Point]:
    """Returns the points of `--from` and `--to`. `new`: "" for the work tree."""
    later = Point(where.commit(new) if new else "", new or WORK_TREE)
    earlier = where.commit(old)
    if merge_base:
        earlier = where.merge_base(earlier, later.commit or where.commit("HEAD"))
    return Point(earlier, old, output.note), later


def sides(where: Repository, old: Point, new: Point, request: Request) -> tuple[list[Side], list[Side], int]:
    """Returns the applications at both points that may differ, and the number of files that are the same.

    Files with the same bytes and the same overlays are not read further. Raises SparkgenError if there is no
    document, or if one of the new point has errors.
    """
    then, now = (_configured(where, point) for point in (old, new))
    before, after = _units(where, old, request, then), _units(where, new, request, now)
    if not before and not after:
        raise SparkgenError(
            f"{', '.join(request.sources)}: no document in {old.name} or in {new.name}; give files or "
            "directories with documents (add -R to search subdirectories)"
        )
    same = {one for one in {*before} & {*after} if not _names_files(one, request)}
    was, shall = replace(request, configured=then), replace(request, configured=now)
    earlier = _applications(where, [unit for unit in before if unit not in same], old, was)
    later = _applications(where, [unit for unit in after if unit not in same], new, shall)
    return earlier, later, len(same)


def _configured(where: Repository, point: Point) -> Configured:
    """Returns the configuration at a point, searched from the working directory up to the Git root."""
    if not point.commit:
        return configuration.settings_of(configuration.found())
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        name = os.path.relpath(folder / FILE_NAME)
        if (data := named_files(where, point, [name]).get(name)) is not None:
            return configuration.settings(data, f"{point.name}:{name}")
        if folder == where.root:
            break
    return Configured()


def _units(where: Repository, point: Point, request: Request, configured: Configured) -> list[Unit]:
    named = (configured.runtime_image, configured.runtime_config_map, configured.python_image)
    runtime = tuple(str(node.value) if node else "" for node in named)
    return [replace(unit, runtime=runtime) for unit in _found(where, point, request)]


def _found(where: Repository, point: Point, request: Request) -> list[Unit]:
    overlays = named_files(where, point, request.values)
    laid = tuple((name, overlays[name]) for name in request.values if name in overlays)
    if point.name != WORK_TREE and len(laid) < len(request.values):
        missing = ", ".join(name for name in request.values if name not in overlays)
        output.note(f"{missing} does not exist in {point.name}: {point.name} is rendered without it")
    elif len(laid) < len(request.values):
        missing = ", ".join(name for name in request.values if name not in overlays)
        raise SparkgenError(f"overlay {missing} does not exist in {point.name}")
    if request.recursive:
        tree = parts_in(where, point, request.sources)
        units = [
            Unit(
                part.file,
                tree.contents[part.file],
                (*((name, tree.contents[name]) for name in part.overlays), *laid),
                part.environment,
            )
            for part in tree.parts
        ]
    else:
        units = [Unit(*file, laid) for file in documents(where, point, request.sources).items()]
    return _with_locks(where, point, units, request)


def _with_locks(where: Repository, point: Point, units: Sequence[Unit], request: Request) -> list[Unit]:
    """Returns the units with their locks at the point: of --lock, of the environment, or of the document."""
    wanted = [[name for name in _lock_names(unit, request) if name] for unit in units]
    every = list(dict.fromkeys(name for names in wanted for name in names))
    locks = named_files(where, point, every)
    existing = (next((name for name in names if name in locks), "") for names in wanted)
    return [
        replace(unit, lock=(name, locks[name])) if name else unit
        for unit, name in zip(units, existing, strict=True)
    ]


def _lock_names(unit: Unit, request: Request) -> list[str]:
    if request.lock:
        return [request.lock]
    own = [lock_of(unit.name, unit.environment)] if unit.environment else []
    return [*own, lock_of(unit.name)]


def _names_files(unit: Unit, request: Request) -> bool:
    """Whether a document may name local files, which can change although document and lock stay the same.

    A path may have escapes, and an option may set it.
    """
    marks = (b"./", b"\\", b"requirements")
    texts = (unit.data, *(data for _, data in unit.overlays))
    return bool(request.sets or request.set_strings) or any(mark in data for data in texts for mark in marks)


def _applications(where: Repository, units: Sequence[Unit], point: Point, request: Request) -> list[Side]:
    """Returns the applications of units. Raises SparkgenError for an error, unless the point ignores it."""
    groups: dict[tuple[str, tuple[tuple[str, bytes], ...], tuple[str, bytes]], list[Unit]] = {}
    for unit in units:
        named = unit.lock if unit.lock[0] != lock_of(unit.name) else ("", b"")
        groups.setdefault((unit.environment, unit.overlays, named), []).append(unit)
    result: list[Side] = []
    for (_, _, named), group in groups.items():
        with tempfile.TemporaryDirectory(prefix="sparkgen-diff-") as folder:
            places = _Places(Path(folder), where, point)
            sources = [places.put_document(unit) for unit in group]
            overlays = [places.put(name, data) for name, data in group[0].overlays]
            placed = replace(
                request,
                sources=tuple(sources),
                values=tuple(overlays),
                lock=places.put(*named) if named[0] else "",
                # The files of another revision are not on disk; its lock says which were pushed. If there is
                # no registry, they are checked out.
                local_files="unread" if point.commit else "pushed",
            )
            rendered = _rendered(placed, places, request, point)
        result += [replace(side, environment=group[0].environment) for side in rendered]
    return result


class _Places:
    """Writes files of a point for the reader of documents, and maps their paths to their names."""

    def __init__(self, folder: Path, where: Repository, point: Point) -> None:
        self._folder, self._where, self._point = folder, where, point
        self._names: dict[str, str] = {}

    def put(self, name: str, data: bytes) -> str:
        """Write a file. Returns the path to read it from."""
        path = self._folder / f"{len(self._names)}.yaml"
        path.write_bytes(data)
        self._names[str(path)] = name
        return str(path)

    def put_document(self, unit: Unit) -> str:
        """Write a document and its lock; one of the work tree is read where it is, beside its local files."""
        if not self._point.commit:
            return unit.name
        path = type(unit.name)(self.put(unit.name, unit.data))
        if unit.lock[0]:
            lock = lock_of(path)
            Path(lock).write_bytes(unit.lock[1])
            self._names[lock] = unit.lock[0]
        return path

    def checked_out(self, document: Document) -> Path:
        """Check out the local files of a document. Returns the folder to which their paths are relative."""
        home, tree = Path(self.name(document.source)).parent, Path(tempfile.mkdtemp(dir=self._folder))
        (tree / ".git").mkdir()
        places = [Path(os.path.normpath(home / _fixed(one.pattern))) for one in entries_of(document.value)]
        ignoring = [
            above / IGNORE_FILE for place in places for above in (home, *home.parents, *place.parents)
        ]
        self._where.write(self._point.commit, map(str, (*places, *ignoring)), tree)
        there = (tree / self._where.inside(str(home))).resolve()
        if not there.is_relative_to(tree.resolve()):
            raise SparkgenError(f"{self._point.name}:{home} is a link out of the repository")
        return there

    def name(self, path: str) -> str:
        """Returns the name of a placed file in its repository."""
        return self._names.get(path, path)

    def shown(self, problem: Problem) -> Problem:
        """Returns a problem with the name of the file at its point."""
        name = self.name(problem.position.file)
        at = f"{self._point.name}:{name}" if self._point.commit else name
        return replace(problem, position=replace(problem.position, file=at))


def _rendered(placed: Request, places: _Places, request: Request, point: Point) -> list[Side]:
    from sparkgen.usecases.diff import side  # noqa: PLC0415 - imports what renders

    checked = check(placed, lambda: b"")
    errors = [places.shown(one) for one in checked.problems if one.severity is Severity.ERROR]
    documents = []
    for document in checked.documents:
        complete, wrong = _with_files(document, placed, places)
        errors += [places.shown(one) for one in wrong]
        documents += [] if wrong else [complete]
    if errors and point.ignore is None:
        show(errors, request, Stdin(), on_stdout=False)
        raise SparkgenError(NOT_COMPARED)
    if errors and point.ignore:
        point.ignore(
            f"{errors[0].position}: error[{errors[0].code}] {errors[0].message}; the document is "
            "ignored in this revision"
        )
        documents = [one for one in documents if not _has_errors(one)]
    agree(documents, request.namespace)
    return [side(document, request.namespace, places.name(document.source)) for document in documents]


def _with_files(document: Document, placed: Request, places: _Places) -> tuple[Document, list[Problem]]:
    """Returns a document with the contents of its local files, if it is of a commit and has no registry."""
    if placed.local_files != "unread" or not local_files.lacks_contents(document):
        return document, []
    return local_files.with_contents(
        document, local_files.found(document, placed, places.checked_out(document))
    )


def _fixed(pattern: str) -> str:
    """Returns a path, or the folder in which a glob begins to differ from a path."""
    beginning, *magic = re.split(MAGIC, pattern, maxsplit=1)
    return beginning.rpartition("/")[0] if magic else pattern


def _has_errors(document: Document) -> bool:
    from sparkgen.document import apply_ignores  # noqa: PLC0415 - see usecases/validate.py

    problems: Sequence[Problem] = apply_ignores(examine(document), document.ignores)[0]
    return any(problem.severity is Severity.ERROR for problem in problems)
