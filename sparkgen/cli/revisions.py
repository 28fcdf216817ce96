"""The applications that documents describe at two points of a Git history."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.pipeline import agree, check, examine
from sparkgen.cli.problems import show
from sparkgen.cli.request import Request
from sparkgen.errors import Problem, Severity, SparkgenError

if TYPE_CHECKING:
    from sparkgen.diff.git import Repository
    from sparkgen.diff.values import Side
    from sparkgen.document import Document

_OURS = re.compile(rb"(?m)^apiVersion:[ \t]*[\"']?sparkgen\.dev/")
WORK_TREE = "the work tree"


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the history: a commit's id, or "" for the work tree; `name`: as people call it."""

    commit: str
    name: str


@dataclass(frozen=True, slots=True)
class Files:
    """What a point holds of what a command names: contents by name, and which names are overlays."""

    documents: Mapping[str, bytes]
    overlays: Mapping[str, bytes]


def points(where: Repository, old: str, new: str, *, merge_base: bool) -> tuple[Point, Point]:
    """The two points of `--from` and `--to`; `new` "" is the work tree."""
    later = Point(where.commit(new), new) if new else Point("", WORK_TREE)
    earlier = where.commit(old)
    if merge_base:
        earlier = where.merge_base(earlier, later.commit or where.commit("HEAD"))
    return Point(earlier, old), later


def sides(
    where: Repository, old: Point, new: Point, request: Request, *, recursive: bool
) -> tuple[list[Side], list[Side], int]:
    """The applications at both points that may differ, and the number of files that are the same.

    Files that are the same bytes under the same overlays are not read any further. SparkgenError when the
    new point has no document, or errors in one.
    """
    before, after = (_files(where, point, request, recursive=recursive) for point in (old, new))
    if not before.documents and not after.documents:
        raise SparkgenError(
            f"{', '.join(request.sources)}: no document at {old.name} nor in {new.name}: name files or "
            "directories with documents (with -R, subdirectories are searched)"
        )
    same: set[str] = set()
    if before.overlays == after.overlays:
        same = {name for name, data in after.documents.items() if before.documents.get(name) == data}
    earlier = _applications(before, same, old, request, strict=False)
    later = _applications(after, same, new, request, strict=True)
    return earlier, later, sum(bool(_OURS.search(after.documents[name])) for name in same)


def _files(where: Repository, point: Point, request: Request, *, recursive: bool) -> Files:
    if not point.commit:
        return _work_tree(request, recursive=recursive)
    ids: dict[str, str] = {}
    for source in request.sources:
        ids |= where.files(point.commit, source, recursive=recursive)
    overlays = {
        name: blob for value in request.values for name, blob in where.files(point.commit, value).items()
    }
    contents = where.read([*ids.values(), *overlays.values()])
    return Files(
        {name: contents[blob] for name, blob in ids.items()},
        {name: contents[blob] for name, blob in overlays.items()},
    )


def _work_tree(request: Request, *, recursive: bool) -> Files:
    documents = {name: _read(name) for source in request.sources for name in _names(source, recursive)}
    overlays = {name: _read(name) for name in request.values if Path(name).is_file()}
    return Files(documents, overlays)


def _names(source: str, recursive: bool) -> Iterable[str]:
    """The files that a name means in the work tree, called as `Repository.files` calls them."""
    path = Path(source)
    if not path.is_dir():
        return [source] if path.is_file() else []
    base = f"{source.rstrip('/')}/" if source != "." else ""
    found = path.rglob("*") if recursive else path.iterdir()
    inside = [one.relative_to(path) for one in found if one.suffix in (".yaml", ".yml") and one.is_file()]
    shown = [one for one in inside if not any(part.startswith(".") for part in one.parts)]
    return sorted(f"{base}{one.as_posix()}" for one in shown)


def _read(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise SparkgenError(f"cannot read {name}: {error.strerror}") from error


def _applications(
    files: Files, same: set[str], point: Point, request: Request, *, strict: bool
) -> list[Side]:
    """The applications of the documents that may differ; with `strict`, an error in one ends it all."""
    wanted = {
        name: data
        for name, data in files.documents.items()
        if name not in same and (name in request.sources or _OURS.search(data))
    }
    if not wanted:
        return []
    with tempfile.TemporaryDirectory(prefix="sparkgen-diff-") as folder:
        places = _Places(Path(folder), point)
        documents = [places.put("d", name, data) for name, data in wanted.items()]
        overlays = [
            places.put("o", name, files.overlays[name]) for name in request.values if name in files.overlays
        ]
        if strict and len(overlays) < len(request.values):
            missing = [name for name in request.values if name not in files.overlays]
            raise SparkgenError(f"there is no overlay {', '.join(missing)} in {point.name}")
        placed = replace(request, sources=tuple(documents), values=tuple(overlays))
        return _rendered(placed, places, request, strict=strict)


class _Places:
    """Files of a point, written where the reader of documents finds them, and their own names again."""

    def __init__(self, folder: Path, point: Point) -> None:
        self._folder, self._point = folder, point
        self._names: dict[str, str] = {}

    def put(self, kind: str, name: str, data: bytes) -> str:
        path = self._folder / f"{kind}{len(self._names)}.yaml"
        path.write_bytes(data)
        self._names[str(path)] = name
        return str(path)

    def name(self, path: str) -> str:
        """The name of a placed file in its repository."""
        return self._names.get(path, path)

    def shown(self, problem: Problem) -> Problem:
        """A problem with the name of the file at its point."""
        name = self.name(problem.position.file)
        at = f"{self._point.name}:{name}" if self._point.commit else name
        return replace(problem, position=replace(problem.position, file=at))


def _rendered(placed: Request, places: _Places, request: Request, *, strict: bool) -> list[Side]:
    from sparkgen.cli.sides import side  # noqa: PLC0415 - imports what renders

    checked = check(placed, lambda: b"")
    errors = [places.shown(one) for one in checked.problems if one.severity is Severity.ERROR]
    documents = list(checked.documents)
    if errors and strict:
        from sparkgen.cli.problems import Stdin  # noqa: PLC0415

        show(errors, request, Stdin(), on_stdout=False)
        raise SparkgenError("a document has errors, so that nothing can be compared: see above")
    if errors:
        output.note(f"{errors[0].position}: error[{errors[0].code}] {errors[0].message}: taken as not there")
        documents = [one for one in documents if not _has_errors(one)]
    agree(documents, request.namespace)
    return [side(document, request.namespace, places.name(document.source)) for document in documents]


def _has_errors(document: Document) -> bool:
    from sparkgen.document import apply_ignores  # noqa: PLC0415

    found: Sequence[Problem] = apply_ignores(examine(document), document.ignores)[0]
    return any(problem.severity is Severity.ERROR for problem in found)
