"""Compares each ConfigMap with the runtime, in files or in a cluster, with its name and this version's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sparkgen import contract
from sparkgen.cluster.annotations import TRACKING
from sparkgen.diff.live import listed
from sparkgen.diff.rendered import files_below
from sparkgen.diff.values import owner_label
from sparkgen.document import sources
from sparkgen.document.parse import each_document, too_large
from sparkgen.document.text import syntax_problem
from sparkgen.errors import Position, Problem, Severity, SparkgenError, key_text, path_text
from sparkgen.image.runtime_files import FILES, alterations, line_of
from sparkgen.spark_versions import COMPILED
from sparkgen.usecases.delete import STARTERS
from sparkgen.usecases.runtime import Place, files_of

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.document.composer import Composed
    from sparkgen.document.node import Node

State = Literal["current", "other version", "altered", "missing"]
MOST_BYTES = 16 << 20
"""The most bytes of one file: the ConfigMap has 1 MB in YAML, and a stream may have several."""
_SUFFIXES = (".yaml", ".yml", ".json")
"""Of the files that `kubectl apply -R` reads, in hidden folders, too."""
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_LARGEST_KUSTOMIZATION = 2 << 20
_LISTS = ("resources", "bases")
"""The fields of a kustomization with files and folders whose objects it applies."""
_CHANGING = (
    *("components", "configMapGenerator", "configurations", "crds", "generatorOptions", "generators"),
    *("helmCharts", "helmGlobals", "openapi", "patches", "patchesJson6902", "patchesStrategicMerge"),
    *("replacements", "secretGenerator", "transformers", "validators", "vars"),
)
"""Its fields that may change any object, or apply others; a text in them may be a file or a folder, too."""
_MOST_TEXTS = 10_000
"""Texts of such fields that are looked up."""
_REMOTE = re.compile(r".*(?:[:?@]|//).*|(?:www\.)?github\.com(?:/.*)?", re.IGNORECASE | re.DOTALL)
"""What kustomize fetches from elsewhere, whatever lies here under the same name."""
_METADATA = (
    *("apiVersion", "kind", "metadata", "namespace", "namePrefix", "nameSuffix", "labels", "commonLabels"),
    *("commonAnnotations", "buildMetadata", "sortOptions", "images", "replicas"),
)
"""Fields that change nothing in the content of a ConfigMap of another kind than a label or a name."""
_MOST_MISTAKES = 20
"""Mistakes of a document that are told with the first runtime in it."""
_MARKS = tuple(text.encode() for text in (contract.RUNTIME_NAME, *FILES))
"""What a file contains if an object in it is the runtime or names it, unless something hides it."""
_HIDING = (b"\0", b"!!binary", b"2002:binary", b"%TAG")
"""UTF-16 or UTF-32, a tag for base64, or a line that gives such a tag another name."""
_ESCAPE = re.compile(
    rb"(?:\\(?:x|u00|U000000)|%)([2-7][0-9A-Fa-f])|\\(?:\r\n?|\n|\xc2\x85|\xe2\x80[\xa8\xa9])[ \t]*"
)
"""An ASCII character in a string of YAML or JSON or in a tag, or the end of a line that goes on below."""
_SEPARATOR = re.compile(rb"^---(?![ \t]*\r?$|[ \t]+#[ -~\t]*\r?$)", re.MULTILINE)
"""The start of a line at which kubectl may start a document, while in YAML the one above may go on."""
_POD_SPECS = (("spec", "jobTemplate", "spec", "template", "spec"), ("spec", "template", "spec"), ("spec",))
_OF_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation", "selfLink", "managedFields")


@dataclass(frozen=True, slots=True)
class Checked:
    """A ConfigMap with the runtime, or one that is missing although applications name it.

    `where`: file, line and column, or "". `problems`: what in it is not as sparkgen writes it, a line each.
    """

    namespace: str
    name: str
    state: State
    where: str = ""
    problems: tuple[str, ...] = ()
    applications: tuple[str, ...] = ()


@dataclass(slots=True)
class Runtimes:
    """The ConfigMaps so far, the applications by the runtime that they name, and what could not be read."""

    checked: list[Checked] = field(default_factory=list)
    users: dict[Place, set[str]] = field(default_factory=dict)
    unread: list[Problem] = field(default_factory=list)

    def add(self, item: Any, locate: Callable[[tuple[str, ...]], str], mistakes: Sequence[str] = ()) -> None:
        """Add an object. `locate`: returns the place of a field, or ""; `mistakes`: in its text."""
        if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
            return
        namespace = str(item["metadata"].get("namespace") or "")
        if _is_runtime(item):
            self.checked.append(_check(item, namespace, locate, mistakes))
        for name in _runtimes_of(item):
            self.users.setdefault((namespace, name), set()).add(_owner(item))
        if sorts := _other_sources(item):
            text = f"the files of its volume `{contract.RUNTIME_VOLUME}` come from {', '.join(sorts)}"
            self.checked.append(Checked(namespace, _owner(item), "altered", locate(()), (text,)))

    def rows(self) -> list[Checked]:
        """Returns all ConfigMaps with their applications, sorted, and those that are missing."""
        known = {(one.namespace, one.name) for one in self.checked}
        missing = [Checked(*place, "missing") for place in self.users if place not in known]
        return [
            replace(one, applications=tuple(sorted(self.users.get((one.namespace, one.name), ()))))
            for one in sorted([*self.checked, *missing], key=lambda one: (one.namespace, one.name, one.where))
        ]


def in_files(paths: Sequence[str]) -> Runtimes:
    """Returns the runtimes in files and folders, and who names them; `-` is standard input.

    Raises SparkgenError if a path does not exist.
    """
    if wrong := [path for path in paths if path != sources.STDIN and not sources.is_there(path)]:
        raise SparkgenError(f"there is no such file or directory: {', '.join(wrong)}")
    found, kustomizations, marked = Runtimes(), _Kustomizations(), set()
    for path in dict.fromkeys(chain.from_iterable(_files(path, kustomizations) for path in paths)):
        name, data = sources.shown_name(path), _read(path)
        if isinstance(data, Problem):
            found.unread.append(data)
            continue
        if _may_have_runtime(data):
            marked.add(Path(path))
            found.unread += _separators(data, name)
            found.unread += each_document(data, name, partial(_add_document, found))
    found.unread += kustomizations.doubts(marked)
    return found


def _may_have_runtime(data: bytes) -> bool:
    """Whether an object in a file may be the runtime or name it, for any program that reads the file.

    Any other file may be a template, or YAML that only another program reads.
    """
    shown = _ESCAPE.sub(lambda found: bytes.fromhex((found[1] or b"").decode()), data)
    return any(text in shown for text in (*_MARKS, *_HIDING))


def _separators(data: bytes, name: str) -> list[Problem]:
    """The first line that starts with `---`, but that kubectl and YAML read differently."""
    if (found := _SEPARATOR.search(data)) is None:
        return []
    place = Position(name, data.count(b"\n", 0, found.start()) + 1, 1)
    message = "kubectl may start a document at this line, and others may not"
    return [syntax_problem(place, message, "write `---` alone on its line, or indent the text")]


def _files(path: str, kustomizations: _Kustomizations) -> list[str]:
    if path == sources.STDIN or not Path(path).is_dir():
        return [path]
    files = {*files_below(Path(path), (*_SUFFIXES, "Kustomization"), lambda name: name == ".git")}
    files |= kustomizations.follow(file for file in files if file.name in _KUSTOMIZATIONS)
    return [sources.Found(file.as_posix()) for file in sorted(files)]


@dataclass(slots=True)
class _Kustomizations:
    """The kustomizations so far, and why each of them applies something else than what it lists."""

    why: dict[Path, list[str]] = field(default_factory=dict)
    listed_by: dict[Path, set[Path]] = field(default_factory=dict)
    """File, or kustomization of a folder -> the kustomizations that list it."""
    unread: list[Path] = field(default_factory=list)
    """Those that may list anything."""

    def follow(self, paths: Iterable[Path]) -> set[Path]:
        """Read kustomizations, and those of the folders that they list. Returns all files that they list."""
        left = sorted(paths, reverse=True)
        files: set[Path] = set()
        while left:
            path = left.pop()
            if path in self.why:
                continue
            listed = _listed_in(path)
            self.why[path] = [*listed.why]
            if not listed.known:
                self.unread.append(path)
            folder, wanted = os.path.realpath(path.parent), frozenset(listed.names)
            for name in dict.fromkeys((*listed.names, *listed.texts)):
                found = _found(folder, name)
                if not found and name in wanted:
                    self.why[path].append(f"`{key_text(name)}` is not here")
                for one in (_seen_from(path.parent, folder, file) for file in found):
                    self.listed_by.setdefault(one, set()).add(path)
                    (left.append if one.name in _KUSTOMIZATIONS else files.add)(one)
        return files

    def doubts(self, marked: Collection[Path]) -> list[Problem]:
        """Returns a problem for each kustomization by which kustomize may change what is in these files.

        One that cannot be read, or is marked itself, may change anything.
        """
        left = [*marked]
        above = {*self.unread, *(path for path in marked if path in self.why)} if marked else set()
        while left:
            new = self.listed_by.get(left.pop(), set()) - above
            above |= new
            left += new
        step = "check what it makes: kubectl kustomize FOLDER | sparkgen verify -"
        return [
            syntax_problem(
                Position(sources.shown_name(path.as_posix()), 1, 1), f"in it, {'; '.join(why)}", step
            )
            for path in sorted(above)
            if (why := self.why.get(path))
        ]


@dataclass(frozen=True, slots=True)
class _Listed:
    """What a kustomization lists. `why`: it applies something else than that.

    `names`: of its lists; `texts`: of other fields, which may be names; `known`: whether there is no more.
    """

    why: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    known: bool = True


def _listed_in(path: Path) -> _Listed:
    """What a kustomization lists."""
    data = sources.read_file(path.as_posix(), "yes", _LARGEST_KUSTOMIZATION)
    documents: list[Composed] = []
    if isinstance(data, Problem) or each_document(data, path.as_posix(), documents.append):
        return _Listed(("there is text that cannot be read",), known=False)
    root = documents[0].root if len(documents) == 1 and not documents[0].problems else None
    if root is None or not isinstance(root.value, dict):
        return _Listed(("there is no single mapping that every program reads alike",), known=False)
    value = root.value
    others = [str(key) for key in value if key not in (*_LISTS, *_METADATA)]
    shown = ", ".join(map(key_text, others[:_MOST_MISTAKES]))
    lists = [given for part in _LISTS if isinstance(given := value.get(part), list)]
    return _Listed(
        (f"fields may change any object: {shown}",) if others else (),
        tuple(name for names in lists for name in names if isinstance(name, str)),
        tuple(islice(_texts([value[key] for key in value if key in _CHANGING]), _MOST_TEXTS)),
        # kustomize reads a field in any case, and may know more of them than are listed here.
        known=all(key in _CHANGING for key in others),
    )


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list | dict):
            left += one.values() if isinstance(one, dict) else one


def _seen_from(folder: Path, real: str, file: Path) -> Path:
    """The path of a file as a user knows it. `real`: the folder without links."""
    way = os.path.relpath(file, real)
    if way.startswith("..") and str(folder.absolute()) != real:
        return file
    return Path(os.path.normpath(folder / way))


def _found(folder: str, name: str) -> list[Path]:
    """A file that a kustomization in a folder lists, or the kustomizations in the folder that it lists.

    Nothing for what kustomize would look for elsewhere, or refuses: a file that is not below the folder, and
    whatever is behind a link. `folder`: without links.
    """
    if _REMOTE.fullmatch(name) or name.startswith("/"):
        return []
    try:
        path = Path(os.path.normpath(f"{folder}/{name}"))
        if path.resolve() != path:
            return []
        if path.is_dir():
            return [file for file in (path / one for one in _KUSTOMIZATIONS) if file.is_file()]
        return [path] if path.is_relative_to(folder) and path.is_file() else []
    except (OSError, ValueError):  # too long a name, or one with a null byte
        return []


def _read(path: str) -> bytes | Problem:
    if path != sources.STDIN:
        return sources.read_file(path, "yes", MOST_BYTES)
    data = sources.read_stdin(MOST_BYTES)
    return data if len(data) <= MOST_BYTES else too_large(sources.STDIN_NAME, MOST_BYTES)


def _add_document(found: Runtimes, document: Composed) -> None:
    """Add the objects of a document: one, or those of a list. For kubectl, whatever has `items` is a list.

    Its mistakes are those of the runtimes in it, because programs differ in what they read there. The first
    runtime names them.
    """
    errors = [one for one in document.problems if one.severity is Severity.ERROR]
    mistakes = [f"{one.position}: {one.message}" for one in errors[:_MOST_MISTAKES]]
    if len(errors) > _MOST_MISTAKES:
        mistakes.append(
            f"{errors[0].position.file}: these are the first of {len(errors)} mistakes in this document"
        )
    root, before = document.root, len(found.checked)
    if root is not None and root.is_mapping:
        nodes = [root]
        for node in nodes:  # which grows: kustomize also reads the lists in a list
            items = node.entries.get("items") if node.is_mapping else None
            nodes += items.items if items is not None and items.is_list else ()
            found.add(node.value, _locator(node), mistakes)
            if mistakes and len(found.checked) > before:  # a list may have thousands of runtimes
                mistakes = [f"{found.checked[before].where}: the mistakes of this document are named there"]
    found.unread += errors if len(found.checked) == before else ()


def _locator(node: Node) -> Callable[[tuple[str, ...]], str]:
    return lambda path: str(node.locate_key(path) if path else node.position)


def in_cluster(cluster: Cluster) -> tuple[Runtimes, tuple[str, ...]]:
    """Returns what is in the cluster's namespace, and why some kinds could not be listed, a sentence each."""
    found = Runtimes()
    workloads, unseen = listed(cluster, STARTERS, f"{contract.LABEL_MANAGED_BY}=sparkgen")
    for item in workloads:
        found.add(item, _nowhere)
    labelled = f"{contract.LABEL_COMPONENT}={contract.RUNTIME_NAME}"
    config_maps, _ = listed(cluster, [("v1", "ConfigMap")], labelled, needed=("ConfigMap",))
    known = {str(item["metadata"]["name"]) for item in config_maps}
    named = sorted({name for _, name in found.users} - known)
    for live in chain(config_maps, (cluster.get("v1", "ConfigMap", name) for name in named)):
        if live is not None:
            found.add(_as_applied(live), _nowhere)
    return found, unseen


def _nowhere(_: tuple[str, ...]) -> str:
    return ""


def _as_applied(live: Any) -> dict[str, Any]:
    """An object of a cluster without what the API server and the controller that applied it have added."""
    metadata = {key: value for key, value in live["metadata"].items() if key not in _OF_SERVER}
    for part in ("labels", "annotations"):
        if part in metadata:
            metadata[part] = {key: text for key, text in metadata[part].items() if key not in TRACKING}
    return {**live, "metadata": metadata}


def _is_runtime(item: dict[Any, Any]) -> bool:
    """Whether an object has the name, the label or a file of the runtime."""
    labels = item["metadata"].get("labels")
    labelled = isinstance(labels, dict) and labels.get(contract.LABEL_COMPONENT) == contract.RUNTIME_NAME
    parts = [part for part in (item.get("data"), item.get("binaryData")) if isinstance(part, dict)]
    has_file = any(file in part for part in parts for file in FILES)
    named = line_of(str(item["metadata"].get("name")))
    return bool(named) or (item.get("kind") == "ConfigMap" and (labelled or has_file))


def _check(
    item: dict[Any, Any], namespace: str, locate: Callable[[tuple[str, ...]], str], mistakes: Sequence[str]
) -> Checked:
    name, where = str(item["metadata"].get("name")), locate(())
    wrong = [(locate(path), f"{path_text(path)} {message}") for path, message in alterations(item)]
    problems = (*mistakes, *(f"{place}: {text}" if place else text for place, text in wrong))
    if problems:
        return Checked(namespace, name, "altered", where, problems)
    line = line_of(name)
    current = line in COMPILED and files_of(line).name == name
    return Checked(namespace, name, "current" if current else "other version", where)


def _volumes(item: dict[Any, Any]) -> list[dict[Any, Any]]:
    """The volumes of an object's pods."""
    lists = [_dig(item, *path, "volumes") for path in _POD_SPECS]
    return [one for found in lists if isinstance(found, list) for one in found if isinstance(one, dict)]


def _runtimes_of(item: dict[Any, Any]) -> Iterator[str]:
    """The names of the ConfigMaps from which an object's pods get the runtime."""
    for volume in _volumes(item):
        name = _dig(volume, "configMap", "name")
        if isinstance(name, str) and (volume.get("name") == contract.RUNTIME_VOLUME or line_of(name)):
            yield name


def _other_sources(item: dict[Any, Any]) -> list[str]:
    """The kinds of volumes from which an object's pods get the runtime, but for its ConfigMap."""
    own = [volume for volume in _volumes(item) if volume.get("name") == contract.RUNTIME_VOLUME]
    return sorted({str(key) for volume in own for key in volume if key not in ("name", "configMap")})


def _dig(value: Any, *path: str) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _owner(item: dict[Any, Any]) -> str:
    """The name of the application or server to which an object belongs, or else its own."""
    metadata = item["metadata"]
    has_labels = isinstance(metadata.get("labels") or {}, dict)
    return (owner_label(item)[1] if has_labels else "") or str(metadata.get("name"))
