"""Finds and reads the files of documents, overlays and locks at a point of a Git history.

The rules are those of `render`: `documents` finds what it finds for files and directories, `parts_in` what it
finds with -R.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.document.environments import Part, Seen, about_links, found, seen
from sparkgen.document.sources import Follow, Found, documents_in, is_document_name, mentions_group, read_file
from sparkgen.errors import Problem, SparkgenError

if TYPE_CHECKING:
    from sparkgen.diff.git import Listing, Repository

WORK_TREE = "the work tree"

Contents = Mapping[str, bytes]
"""Files by their names, as the caller of the command would write them."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the history: a commit's ID, or "" for the work tree; `name`: what people call it.

    `ignore`: called with a message about what is left out because it has an error; None: raise an error.
    """

    commit: str
    name: str
    ignore: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """The parts of a directory, and the contents of their files and overlays."""

    parts: Sequence[Part]
    contents: Contents


def named_files(where: Repository, point: Point, names: Iterable[str]) -> dict[str, bytes]:
    """Returns the files with these names at a point; a name without a file is left out."""
    if not point.commit:
        return {name: _read(name) for name in names if Path(name).is_file()}
    ids: dict[str, str] = {}
    for name in names:
        ids |= _followed(point, where.listing(point.commit, name), {name}.__contains__)
    return _contents(where, ids)


def documents(where: Repository, point: Point, sources: Sequence[str]) -> dict[str, bytes]:
    """Returns the files with documents for the arguments of a command, as `render` without -R finds them."""
    if not point.commit:
        names = [name for source in sources for name in _present(source)]
        return {name: _read(name, "document") for name in names}
    ids: dict[str, str] = {}
    for source in sources:

        def is_wanted(name: str, source: str = source) -> bool:
            return name == source or is_document_name(name.rpartition("/")[2])

        every = _followed(point, where.listing(point.commit, source), is_wanted, source)
        ids |= {name if name == source else Found(name): id_ for name, id_ in every.items()}
    contents = _contents(where, ids)
    return {
        name: data for name, data in contents.items() if not isinstance(name, Found) or mentions_group(data)
    }


def parts_in(where: Repository, point: Point, sources: Sequence[str]) -> Tree:
    """Returns what `render -R` renders of a directory at a point."""
    if len(sources) != 1:
        raise SparkgenError(
            "-R takes one directory that contains all documents: sparkgen diff --from REV -R DIR"
        )
    source = sources[0]
    return _parts_at(where, point, source) if point.commit else _parts_on_disk(point, source)


def _parts_on_disk(point: Point, source: str) -> Tree:
    if Path(source).is_file():
        raise _no_directory(source)
    tree = seen(source) if Path(source).is_dir() else Seen((), {}, lambda _: False)
    parts = _found(point, tree, _base(source))
    return Tree(parts, {name: _read(name) for name in _names(parts)})


def _parts_at(where: Repository, point: Point, source: str) -> Tree:
    listing = where.listing(point.commit, source, recursive=True)
    if source in listing.files or source in listing.links:
        raise _no_directory(source)
    base = _base(source)
    targets = {name: target.id for name, target in listing.links.items() if target.kind == "file"}
    contents = _contents(where, {**listing.files, **targets})
    tree = Seen(
        [name.removeprefix(base) for name in listing.files],
        {name.removeprefix(base): target.kind for name, target in listing.links.items()},
        lambda name: mentions_group(contents[f"{base}{name}"]),
    )
    return Tree(_found(point, tree, base), contents)


def _found(point: Point, tree: Seen, base: str) -> Sequence[Part]:
    finding = found(tree, base)
    if finding.links:
        _complain(point, about_links(finding.links))
    return finding.parts


def _names(parts: Iterable[Part]) -> Iterable[str]:
    return dict.fromkeys(name for part in parts for name in (part.file, *part.overlays))


def _no_directory(source: str) -> SparkgenError:
    return SparkgenError(
        f"{source} is not a directory; with -R, give the directory that contains all documents"
    )


def _base(source: str) -> str:
    """Returns what comes before the names of files in a directory."""
    return f"{source.rstrip('/')}/" if source != "." else ""


def _present(source: str) -> list[str]:
    """Returns the files of an argument in the work tree, named as `Repository.listing` names them."""
    if not Path(source).is_dir():
        return [source] if Path(source).is_file() else []
    return [Found(f"{_base(source)}{Path(name).name}") for name in documents_in(source)]


def _followed(
    point: Point, listing: Listing, is_wanted: Callable[[str], bool], source: str = ""
) -> dict[str, str]:
    """Returns the ids of the wanted files, also of those to which links lead.

    A link out of the repository is an error, and so is `source`, an argument, if it leads to no file.
    """
    ids = {name: id_ for name, id_ in listing.files.items() if is_wanted(name)}
    for name, target in listing.links.items():
        if not is_wanted(name):
            continue
        if target.kind == "file":
            ids[name] = target.id
        elif target.kind == "outside" or name == source:
            where = "out of the repository" if target.kind == "outside" else "to nothing"
            _complain(point, f"{name} is a symbolic link {where}; replace it with a copy of the file")
    return dict(sorted(ids.items()))


def _complain(point: Point, message: str) -> None:
    """Raise SparkgenError, or say what is left out, as the point demands."""
    if point.ignore is None:
        raise SparkgenError(message)
    point.ignore(f"{point.name}: {message}; it is ignored in this revision")


def _contents(where: Repository, ids: Mapping[str, str]) -> dict[str, bytes]:
    contents = where.read(ids.values())
    return {name: contents[id_] for name, id_ in ids.items()}


def _read(name: str, follow: Follow = "no") -> bytes:
    data = read_file(name, follow)
    if isinstance(data, Problem):
        raise SparkgenError(f"cannot read {name}: {data.message}; {data.next_step}")
    return data
