"""Finds the files of a document's local entries on this machine, and their paths inside an artifact."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sparkgen.delivery import requirements as packages
from sparkgen.delivery import secret_files
from sparkgen.delivery.disk import Disk, FileOnDisk, Unusable
from sparkgen.delivery.globs import MAGIC
from sparkgen.delivery.ignore import FILE_NAME, BadIgnoreFile
from sparkgen.delivery.limits import DEFAULT_MAX_BYTES, MAX_MEMBER, MOST_SEEN, bytes_text, not_unpacked
from sparkgen.delivery.requirements import Requirements
from sparkgen.delivery.sizes import too_large
from sparkgen.delivery.values import PYTHON, Contents, LocalFile, Looked, Wrong
from sparkgen.delivery.work import Work
from sparkgen.model.delivery import CODE, DEPENDENCIES, MAIN_FILE_FIELD, REQUIREMENTS_FIELD, ArtifactName
from sparkgen.repository import is_hidden
from sparkgen.semantics.local_entries import Entry, entries_of, spec_of

PARENT = "_parent"
"""The folder inside an artifact that stands for `..`: for files that are not below the document's folder."""

_SAFE = re.compile(r"(?:\.?[A-Za-z0-9_+@=~-][A-Za-z0-9_+@=~.-]*(?:/|$))+")
"""Paths that Spark reads unchanged: it parses paths as URIs, and its JVM has no locale."""
_FILES_ONLY = {MAIN_FILE_FIELD: "name a file in it", "archives": "pack it: tar -czf NAME.tar.gz -C FOLDER ."}
_SHOWN = 5


def look(
    value: Mapping[str, Any], folder: Path, max_bytes: int = DEFAULT_MAX_BYTES, work: Work | None = None
) -> Looked:
    """Returns the files that a document in `folder` names. Reads them for digests; raises no problem.

    `work`: the rest of the command's limits.
    """
    entries = entries_of(value)
    if not entries:
        return Looked(())
    found = _Search(Disk(folder, work or Work()), value)
    for entry in entries:
        found.add(entry)
    contents = tuple(one for name in (CODE, DEPENDENCIES) if (one := found.contents(name)) is not None)
    wrong = [*found.wrong, *too_large(contents, entries, max_bytes)]
    return Looked(entries, contents, tuple(wrong), tuple(sorted(found.left_out)))


@dataclass(slots=True)
class _Search:
    disk: Disk
    value: Mapping[str, Any]
    wrong: list[Wrong] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    _files: dict[tuple[ArtifactName, str], LocalFile] = field(default_factory=dict)
    _entries: dict[tuple[ArtifactName, str], tuple[str, ...]] = field(default_factory=dict)
    _base_names: dict[str, str] = field(default_factory=dict)
    _requirements: Requirements | None = None
    _seen: int = 0

    def add(self, entry: Entry) -> None:
        """Find the files of an entry, and record them, or what is wrong with the entry."""
        try:
            inside = (PYTHON,) if entry.field == REQUIREMENTS_FIELD else tuple(self._found(entry))
            if entry.field == REQUIREMENTS_FIELD:
                self._read_requirements(entry)
        except Unusable as error:
            self.wrong.append(Wrong(entry, error.message, error.next_step))
            return
        except BadIgnoreFile as error:
            self.wrong.append(Wrong(entry, f"cannot be checked: {error}", f"fix the {FILE_NAME}"))
            return
        known = self._entries.setdefault((entry.artifact, entry.text), inside)
        if known != inside:
            self.wrong.append(
                Wrong(
                    entry,
                    "is in two fields, and each field needs other files of it",
                    "write one of the two differently, for example as a glob",
                )
            )

    def contents(self, name: ArtifactName) -> Contents | None:
        """Returns the contents of an artifact; None if it has no entries."""
        entries = {text: paths for (of, text), paths in self._entries.items() if of == name}
        files = [file for (of, _), file in self._files.items() if of == name]
        if not entries:
            return None
        ordered = tuple(sorted(files, key=lambda file: file.inside.encode()))
        return Contents(name, ordered, entries, self._requirements if name == DEPENDENCIES else None)

    # --- one entry ------------------------------------------------------------------------------------

    def _found(self, entry: Entry) -> Iterator[str]:
        pattern = entry.pattern
        literal = not MAGIC.search(pattern) or os.path.lexists(os.path.join(self.disk.folder, pattern))  # noqa: PTH118 - see disk.py
        matches = [pattern] if literal else self._matches(entry)
        if entry.field == MAIN_FILE_FIELD and not literal:
            raise Unusable("must be one file, not a glob", "name the file")
        if "#" in entry.text and entry.field == "archives" and len(matches) > 1:
            raise Unusable(
                f"gives one name after # to {len(matches)} archives", "write one entry for each archive"
            )
        for match in matches:
            path = self.disk.absolute(match)
            verdict = self.disk.ignores.within(
                self.disk.relative(path) + ("/" if self.disk.is_folder(path) else "")
            )
            if verdict.ignored:
                raise Unusable(
                    f"is ignored by {verdict.by}",
                    f"add a line `!{self.disk.relative(path)}` to the {FILE_NAME} of the repository's root, "
                    "or delete the entry",
                )
            yield from self._taken(entry, match, path, vouched=verdict.named)

    def _matches(self, entry: Entry) -> list[str]:
        self.disk.absolute(re.split(MAGIC, entry.pattern, maxsplit=1)[0])
        found = []
        for match in self.disk.matches(entry.pattern):
            path = self.disk.absolute(match)
            relative = self.disk.relative(path) + ("/" if self.disk.is_folder(path) else "")
            if self.disk.ignores.within(relative).ignored:
                self.left_out.add(relative)
            else:
                found.append(match)
        if not found:
            raise Unusable("matches no file", "check the pattern, which is relative to the document's folder")
        return found

    def _taken(self, entry: Entry, match: str, path: str, *, vouched: bool) -> Iterator[str]:
        """Yields the paths inside the artifact of one match of an entry, a file or a folder."""
        inside = inside_path(match)
        if not self.disk.is_folder(path):
            if match.endswith("/"):
                raise Unusable("is a file, but its name ends with a slash", "delete the slash")
            yield self._handed_on(entry, self._keep(entry, inside, path, vouched=vouched))
            return
        if not inside:
            raise Unusable("includes the document's folder itself", "name what is in it: ./*.py, ./lib")
        if entry.field in _FILES_ONLY:
            raise Unusable("is a folder", _FILES_ONLY[entry.field])
        if entry.field == "jars":
            yield from self._jars(entry, inside, path)
            return
        paths = [self._keep(entry, *one) for one in self._below(inside, path, (self.disk.real(path),))]
        if not paths:
            raise Unusable("is an empty folder", "check the path, or delete the entry")
        if entry.field == "files":
            for one in paths:
                yield self._handed_on(entry, one)
        else:
            _refuse_odd(inside)
            yield _in(inside)

    def _jars(self, entry: Entry, inside: str, folder: str) -> Iterator[str]:
        jars = [name for name in self.disk.names(folder) if name.endswith(".jar")]
        if not jars:
            raise Unusable("has no *.jar in it", "check the path, or name files below it with a glob")
        for name in jars:
            yield self._handed_on(entry, self._keep(entry, f"{_in(inside)}{name}", f"{folder}/{name}"))

    def _below(self, inside: str, folder: str, above: tuple[str, ...]) -> list[tuple[str, str]]:
        """Returns all files below a folder that are not left out: path inside the artifact, path here."""
        found: list[tuple[str, str]] = []
        if said := not_unpacked(inside):
            raise Unusable(f"{inside[:200]} {said}", f"rename it, or add it to {FILE_NAME}")
        for name in self.disk.names(folder):
            self._seen += 1
            if self._seen > MOST_SEEN:
                raise Unusable(
                    f"has more than {MOST_SEEN} files and folders",
                    f"add some of them to {FILE_NAME}",
                )
            path = f"{folder}/{name}"
            relative = self.disk.relative(path)
            try:
                with _naming(relative):
                    is_folder = self.disk.is_folder(path)
            except Unusable:
                if self._ignored(relative):
                    continue
                raise
            if self._ignored(f"{relative}/" if is_folder else relative):
                continue
            if not is_folder:
                found.append((f"{_in(inside)}{name}", path))
            elif (real := self.disk.real(path)) in above:
                raise Unusable(f"has a link to a folder above it: {relative}/", f"add it to {FILE_NAME}")
            else:
                found += self._below(f"{_in(inside)}{name}", path, (*above, real))
        return found

    def _ignored(self, relative: str) -> bool:
        """Whether a path below the root is left out; if so, record it."""
        if ignored := self.disk.ignores.of(relative).ignored:
            self.left_out.add(relative)
        return ignored

    # --- one file -------------------------------------------------------------------------------------

    def _keep(self, entry: Entry, inside: str, path: str, *, vouched: bool | None = None) -> str:
        relative = self.disk.relative(path)
        if vouched is None:
            vouched = self.disk.ignores.of(relative).named
        try:
            inside.encode()
        except UnicodeEncodeError:
            raise Unusable(f"{relative!a}: the name is not UTF-8", "rename the file") from None
        if said := not_unpacked(inside):
            raise Unusable(f"{inside[:200]} {said}", f"rename it, or add it to {FILE_NAME}")
        with _naming("" if inside == inside_path(entry.pattern) else relative):
            found = self.disk.file(path)
        if found.size > MAX_MEMBER:
            raise Unusable(
                f"{relative} has {bytes_text(found.size)}, more than an archive can hold", "split it"
            )
        secret = _secret(relative, self.disk.relative(found.place), found, vouched=vouched)
        file = LocalFile(inside, found.place, found.size, found.executable, found.sha256, secret)
        known = self._files.setdefault((entry.artifact, inside), file)
        if replace(known, place=file.place) != file:
            raise Unusable(
                f"two files would have the path {inside}: {known.place} and {file.place}",
                "rename one of them",
            )
        return inside

    def _handed_on(self, entry: Entry, inside: str) -> str:
        """Returns the path of a file that Spark gets. Raises Unusable if Spark would read it differently."""
        _refuse_odd(inside)
        if entry.field == "files":
            base = inside.rpartition("/")[2]
            other = self._base_names.setdefault(base, inside)
            if other != inside:
                raise Unusable(
                    f"{inside} and {other} have the same name, and Spark puts all `files` into one folder",
                    "rename one of them",
                )
        return inside

    def _read_requirements(self, entry: Entry) -> None:
        path = self.disk.absolute(entry.text)
        if self.disk.is_folder(path):
            raise Unusable("is a folder", "name the file in it, such as requirements.txt")
        file = self.disk.file(path)
        _refuse_private(path, self.disk.relative(path), file)
        text = Path(file.place).read_text(encoding="utf-8-sig", errors="replace")
        deps = spec_of(self.value)["deps"]
        python = deps.get("pythonVersion")
        if not isinstance(python, str):
            step = 'set `deps.pythonVersion` to the Python version of the image, for example "3.10"'
            self.wrong.append(
                Wrong(entry, "needs a Python version, because packages depend on it", step, "SG309")
            )
            python = ""
        found = list(packages.faults(text))
        for line, said, step in found[:_SHOWN]:
            self.wrong.append(Wrong(entry, f"line {line.number} {said}", step, "SG309"))
        platform = deps.get("pythonPlatform")
        if not found and python:
            self._requirements = Requirements(
                text, python, platform if isinstance(platform, str) else "x86_64"
            )


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Add the path of a file to an Unusable that is raised inside, unless it is "" (the entry itself)."""
    try:
        yield
    except Unusable as error:
        if not path:
            raise
        step = f"{error.next_step}, or add it to {FILE_NAME}"
        raise Unusable(f"contains {path}, which {error.message}", step) from None


def inside_path(path: str) -> str:
    """Returns a path from the document's folder as it is inside an artifact; "" for the folder itself."""
    parts = os.path.normpath(path).split("/")
    return "/".join(PARENT if part == ".." else part for part in parts if part != ".")


def _in(folder: str) -> str:
    return f"{folder}/" if folder else ""


def _refuse_odd(inside: str) -> None:
    if not _SAFE.fullmatch(inside):
        odd = next((char for char in inside if not re.fullmatch(r"[A-Za-z0-9_+@=~./-]", char)), inside[:1])
        raise Unusable(
            f"{inside} has {odd!a} in its name, and Spark parses file names as URIs",
            "rename it: ASCII letters, digits and . _ - are safe",
        )


def _secret(relative: str, real: str, file: FileOnDisk, *, vouched: bool) -> str:
    """Returns what secret a file seems to contain, or "". Raises Unusable if nobody vouched for it.

    `relative`, `real`: its path, and that behind all links.
    """
    said = secret_files.by_name(relative) or secret_files.by_name(real) or file.secret
    if said and not vouched:
        raise Unusable(
            f"{relative} seems to contain a secret ({said}), which everyone who can pull the artifact could "
            "read",
            "put it into a Kubernetes Secret and ignore the file; if it is not secret, add a line "
            f"`!{relative}` to the {FILE_NAME} of the repository's root",
        )
    return said


def _refuse_private(path: str, relative: str, file: FileOnDisk) -> None:
    """Raises Unusable for requirements that may be a private file, which messages would describe.

    Whoever wrote the document may not be who has the file, and could also have written an ignore file: no
    entry there allows it.
    """
    if file.place != path:
        raise Unusable("is, or is below, a symbolic link", "name the file that it leads to")
    if is_hidden(relative):
        raise Unusable("is hidden: a name in its path begins with a dot", "move it, or rename it")
    if said := secret_files.by_name(relative) or file.secret:
        raise Unusable(f"seems to contain a secret ({said})", "name a file of Python requirements")
