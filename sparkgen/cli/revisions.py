"""Reads the applications that documents describe at two points of a Git history."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.request import Request
from sparkgen.document.configuration import FILE_NAME, Configured
from sparkgen.document.locks import lock_of
from sparkgen.document.sources import LOCK_SUFFIX
from sparkgen.errors import Problem, Severity, SparkgenError
from sparkgen.usecases import configuration
from sparkgen.usecases.environments import ENVIRONMENTS, parts
from sparkgen.usecases.validate import agree, check, examine

if TYPE_CHECKING:
    from sparkgen.diff.git import Repository
    from sparkgen.diff.values import Side
    from sparkgen.document import Document

_OURS = re.compile(rb"(?m)^apiVersion:[ \t]*[\"']?sparkgen\.dev/")
_SUFFIXES = (".yaml", ".yml")
WORK_TREE = "the work tree"

Contents = Mapping[str, bytes]
"""Files by their names, as the caller of the command would write them."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the history: a commit's ID, or "" for the work tree; `name`: what people call it."""

    commit: str
    name: str


@dataclass(frozen=True, slots=True)
class Unit:
    """A file with documents, and the overlays for it, all with name and content.

    `environment`: the environment of the overlays, with -R; else "". `runtime_image`: from the repository's
    configuration, or "". `lock`: name and content of its lock file; the name is "" if there is none.
    """

    name: str
    data: bytes
    overlays: tuple[tuple[str, bytes], ...] = ()
    environment: str = ""
    runtime_image: str = ""
    lock: tuple[str, bytes] = ("", b"")


def points(where: Repository, old: str, new: str, *, merge_base: bool) -> tuple[Point, Point]:
    """Returns the points of `--from` and `--to`. `new`: "" for the work tree."""
    later = Point(where.commit(new), new) if new else Point("", WORK_TREE)
    earlier = where.commit(old)
    if merge_base:
        earlier = where.merge_base(earlier, later.commit or where.commit("HEAD"))
    return Point(earlier, old), later


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
    same = {one for one in {*before} & {*after} if new.commit or not _names_files(one)}
    was, shall = replace(request, configured=then), replace(request, configured=now)
    earlier = _applications([unit for unit in before if unit not in same], old, was, strict=False)
    later = _applications([unit for unit in after if unit not in same], new, shall, strict=True)
    return earlier, later, len(same)


def _configured(where: Repository, point: Point) -> Configured:
    """Returns the configuration at a point, searched from the working directory up to the Git root."""
    if not point.commit:
        return configuration.read(configuration.found())
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        name = os.path.relpath(folder / FILE_NAME)
        if blob := where.files(point.commit, name).get(name):
            return configuration.parsed(where.read([blob])[blob], f"{point.name}:{name}")
        if folder == where.root:
            break
    return Configured()


def _units(where: Repository, point: Point, request: Request, configured: Configured) -> list[Unit]:
    image = str(configured.runtime_image.value) if configured.runtime_image else ""
    return [replace(unit, runtime_image=image) for unit in _found(where, point, request)]


def _found(where: Repository, point: Point, request: Request) -> list[Unit]:
    files = _files(where, point, request.sources, recursive=request.recursive)
    overlays = _files(where, point, request.values, recursive=False)
    laid = tuple((name, overlays[name]) for name in request.values if name in overlays)
    if point.name != WORK_TREE and len(laid) < len(request.values):
        missing = ", ".join(name for name in request.values if name not in overlays)
        output.note(f"{missing} does not exist in {point.name}: {point.name} is rendered without it")
    elif len(laid) < len(request.values):
        missing = ", ".join(name for name in request.values if name not in overlays)
        raise SparkgenError(f"overlay {missing} does not exist in {point.name}")
    if request.recursive:
        units = [replace(unit, overlays=(*unit.overlays, *laid)) for unit in _in_tree(files, request)]
    else:
        units = [
            Unit(name, data, laid)
            for name, data in files.items()
            if name in request.sources or (_OURS.search(data) and not name.endswith(LOCK_SUFFIX))
        ]
    return _with_locks(where, point, units, request)


def _with_locks(where: Repository, point: Point, units: Sequence[Unit], request: Request) -> list[Unit]:
    """Returns the units with their locks at the point: of --lock, of the environment, or of the document."""
    wanted = [[name for name in _lock_names(unit, request) if name] for unit in units]
    every = list(dict.fromkeys(name for names in wanted for name in names))
    locks = _files(where, point, every, recursive=False)
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


def _names_files(unit: Unit) -> bool:
    """Whether a document may name local files, which can change although document and lock stay the same."""
    return any(
        mark in data for _, data in (("", unit.data), *unit.overlays) for mark in (b"./", b"requirements")
    )


def _files(where: Repository, point: Point, names: Sequence[str], *, recursive: bool) -> dict[str, bytes]:
    """Returns the files with these names at a point; a name without a file is left out."""
    if not point.commit:
        return {file: _read(file) for name in names for file in _present(name, recursive=recursive)}
    ids: dict[str, str] = {}
    for name in names:
        ids |= where.files(point.commit, name, recursive=recursive)
    contents = where.read(ids.values())
    return {name: contents[blob] for name, blob in ids.items()}


def _present(source: str, *, recursive: bool) -> Iterable[str]:
    """Returns the files of a name in the work tree, named as `Repository.files` names them."""
    path = Path(source)
    if not path.is_dir():
        return [source] if path.is_file() else []
    base = f"{source.rstrip('/')}/" if source != "." else ""
    entries = path.rglob("*") if recursive else path.iterdir()
    inside = [entry.relative_to(path) for entry in entries if entry.suffix in _SUFFIXES and entry.is_file()]
    shown = [entry for entry in inside if not any(part.startswith(".") for part in entry.parts)]
    return sorted(f"{base}{entry.as_posix()}" for entry in shown)


def _read(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise SparkgenError(f"cannot read {name}: {error.strerror}") from error


def _in_tree(files: Contents, request: Request) -> Iterator[Unit]:
    """Yields the documents of a whole repository for each environment, as `render -R` finds them."""
    if len(request.sources) != 1:
        raise SparkgenError(
            "-R takes one directory that contains all documents: sparkgen diff --from REV -R DIR"
        )
    base = f"{request.sources[0].rstrip('/')}/" if request.sources[0] != "." else ""
    with tempfile.TemporaryDirectory(prefix="sparkgen-diff-") as folder:
        root = Path(folder, "tree")
        root.mkdir()
        for name, data in files.items():
            if _OURS.search(data) or ENVIRONMENTS in Path(name).parts[:-1]:
                place = root / name.removeprefix(base)
                try:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(data)
                except OSError as error:
                    raise SparkgenError(f"cannot check out {name}: {error.strerror or error}") from None

        def named(path: str) -> str:
            return base + Path(path).relative_to(root).as_posix()

        for part in parts(str(root), f"{folder}/output"):
            overlays = tuple((name, files[name]) for name in map(named, part.overlays))
            name = named(part.file)
            yield Unit(name, files[name], overlays, part.environment)


def _applications(units: Sequence[Unit], point: Point, request: Request, *, strict: bool) -> list[Side]:
    """Returns the applications of units. `strict`: an error in one raises SparkgenError; else skip it."""
    groups: dict[tuple[str, tuple[tuple[str, bytes], ...], tuple[str, bytes]], list[Unit]] = {}
    for unit in units:
        named = unit.lock if unit.lock[0] != lock_of(unit.name) else ("", b"")
        groups.setdefault((unit.environment, unit.overlays, named), []).append(unit)
    result: list[Side] = []
    for (_, _, named), group in groups.items():
        with tempfile.TemporaryDirectory(prefix="sparkgen-diff-") as folder:
            places = _Places(Path(folder), point)
            documents = [places.put_document(unit) for unit in group]
            overlays = [places.put(name, data) for name, data in group[0].overlays]
            placed = replace(
                request,
                sources=tuple(documents),
                values=tuple(overlays),
                lock=places.put(*named) if named[0] else "",
                # The files of another revision are not on disk; its lock says which were pushed.
                local_files="unread" if point.commit else "pushed",
            )
            rendered = _rendered(placed, places, request, strict=strict)
        result += [replace(side, environment=group[0].environment) for side in rendered]
    return result


class _Places:
    """Writes files of a point for the reader of documents, and maps their paths to their names."""

    def __init__(self, folder: Path, point: Point) -> None:
        self._folder, self._point = folder, point
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
        path = self.put(unit.name, unit.data)
        if unit.lock[0]:
            lock = lock_of(path)
            Path(lock).write_bytes(unit.lock[1])
            self._names[lock] = unit.lock[0]
        return path

    def name(self, path: str) -> str:
        """Returns the name of a placed file in its repository."""
        return self._names.get(path, path)

    def shown(self, problem: Problem) -> Problem:
        """Returns a problem with the name of the file at its point."""
        name = self.name(problem.position.file)
        at = f"{self._point.name}:{name}" if self._point.commit else name
        return replace(problem, position=replace(problem.position, file=at))


def _rendered(placed: Request, places: _Places, request: Request, *, strict: bool) -> list[Side]:
    from sparkgen.usecases.diff import side  # noqa: PLC0415 - imports what renders

    checked = check(placed, lambda: b"")
    errors = [places.shown(one) for one in checked.problems if one.severity is Severity.ERROR]
    documents = list(checked.documents)
    if errors and strict:
        show(errors, request, Stdin(), on_stdout=False)
        raise SparkgenError("cannot compare: the errors above must be fixed first")
    if errors:
        output.note(
            f"{errors[0].position}: error[{errors[0].code}] {errors[0].message}; the document is "
            "ignored in this revision"
        )
        documents = [one for one in documents if not _has_errors(one)]
    agree(documents, request.namespace)
    return [side(document, request.namespace, places.name(document.source)) for document in documents]


def _has_errors(document: Document) -> bool:
    from sparkgen.document import apply_ignores  # noqa: PLC0415 - see usecases/validate.py

    problems: Sequence[Problem] = apply_ignores(examine(document), document.ignores)[0]
    return any(problem.severity is Severity.ERROR for problem in problems)
