"""Reads files at a Git revision with plumbing commands: changes neither the work tree nor the index.

`rev-parse`, `ls-tree`, `ls-files` and `cat-file --batch` only read, and start no program that a repository
names. https://git-scm.com/docs/git#_low_level_commands_plumbing
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from sparkgen.document.sources import SUFFIXES
from sparkgen.errors import SparkgenError
from sparkgen.repository import LinkTarget, repository_root

_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # no refresh of the index as a side effect
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    # No fetch on demand: the repository's configuration names programs for it. The first variable needs git
    # 2.45.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    # Names that begin with ":" are names, too; git refuses the other variables beside the first one.
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_GLOB_PATHSPECS": "0",
    "GIT_NOGLOB_PATHSPECS": "0",
    "GIT_ICASE_PATHSPECS": "0",
}
_SETTINGS = {
    # Files below the root that form a bare repository may be untrusted: its configuration could name
    # programs.
    "safe.bareRepository": "explicit",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.sshCommand": "false",
}
"""Settings that override the repository's own configuration, which may be untrusted."""
_OPTIONS = [word for name, text in _SETTINGS.items() for word in ("-c", f"{name}={text}")]
_AT_ONCE = 500
"""The most file names in one call of git."""
_PATIENCE = 30.0
"""Seconds for one such call: a named pipe instead of a .gitignore would block git forever."""
_FILE_MODES = (b"100644", b"100755")
_LINK_MODE = b"120000"
_FOLDER_MODE = b"040000"
_SHA1_LENGTH = 40
"""Hexadecimal digits of an id; longer ones are of a repository with SHA-256."""
_PIECE = 1 << 20
_MOST_LINKS = 40
"""As many as Linux follows for one path."""
_MOST_NAMES = 10_000
"""The most paths that are looked up for one document."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link of a commit leads, and the id of the file or the folder there, or ""."""

    kind: LinkTarget
    id: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a name means at a commit: the ids of files, and where symbolic links lead, all by name."""

    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, Target] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Untracked:
    """Files that Git does not show: new ones, and others that Git ignores, as names from the root.

    `hidden`: the changed files of which git status shows no change, each with the option of git update-index
    that ends this.
    """

    new: Sequence[str] = ()
    ignored: Sequence[str] = ()
    hidden: Mapping[Path, str] = field(default_factory=dict)


_Entries = dict[str, tuple[bytes, str]]
"""Mode and id, by path."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, identified by the top folder of its work tree."""

    root: Path

    def commit(self, revision: str) -> str:
        """The commit that a revision names. Raises SparkgenError, which says what may be missing."""
        done = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if done.returncode:
            raise SparkgenError(
                f"unknown revision {revision} in {self.root}; check its name (git log --oneline), or fetch "
                "it (git fetch origin; for older commits of a shallow clone: git fetch --unshallow)"
            )
        return done.stdout.decode().strip()

    def merge_base(self, one: str, other: str) -> str:
        """The newest common commit of two commits. Raises SparkgenError if there is none."""
        done = self._git("merge-base", one, other)
        if done.returncode:
            raise SparkgenError(
                f"{one} and {other} have no common commit in this clone; fetch more history: "
                "git fetch --unshallow"
            )
        return done.stdout.decode().strip()

    def listing(self, commit: str, name: str, *, recursive: bool = False) -> Listing:
        """What `name` means at a commit: a file, or a directory, which means what is in it.

        With `recursive`, it also means all that is below it. Of files in a directory, only YAML files count,
        and no hidden ones. Empty if there is nothing. The names begin like the caller's: `name`, or
        `name/...`. Raises SparkgenError for a commit that no checkout can write.
        """
        inside = self.inside(name)
        mode, id_ = self._entry(commit, inside)
        if mode in _FILE_MODES:
            return Listing({name: id_})
        if mode == _LINK_MODE:
            target = self._targets(commit, [inside])[inside]
            if target.kind != "folder":
                return Listing({}, {name: target})
            id_ = target.id
        elif mode != _FOLDER_MODE:
            return Listing()
        base = f"{name.rstrip('/')}/" if name != "." else ""
        return self._below(commit, id_, f"{inside}/" if inside != "." else "", base, recursive=recursive)

    def _below(self, commit: str, folder: str, prefix: str, base: str, *, recursive: bool) -> Listing:
        """What is in a folder with this id. `prefix`: its path in the commit; `base`: the caller's."""
        entries = self._entries("ls-tree", "-z", *(["-r"] if recursive else []), folder)
        for path in entries:
            if twice := next((str(one) for one in PurePosixPath(path).parents if str(one) in entries), ""):
                raise SparkgenError(
                    f"cannot check out {base}{twice}: the commit has a file and a folder of it"
                )
        shown = {path: entry for path, entry in sorted(entries.items()) if _is_shown(path)}
        links = [path for path, (mode, _) in shown.items() if mode == _LINK_MODE]
        targets = self._targets(commit, [f"{prefix}{path}" for path in links])
        return Listing(
            {
                f"{base}{path}": id_
                for path, (mode, id_) in shown.items()
                if mode in _FILE_MODES and path.endswith(SUFFIXES)
            },
            {f"{base}{path}": targets[f"{prefix}{path}"] for path in links},
        )

    def _entry(self, commit: str, inside: str) -> tuple[bytes, str]:
        """Mode and id of a path, also of one below a link to a folder; empty if there is nothing."""
        if inside == ".":
            return _FOLDER_MODE, commit
        if found := self._entries("ls-tree", "-z", commit, "--", inside).get(inside):
            return found
        folder, _, last = inside.rpartition("/")
        within = self._targets(commit, [folder])[folder] if folder else Target("nothing")
        if within.kind != "folder":
            return b"", ""
        return self._entries("ls-tree", "-z", within.id, "--", last).get(last, (b"", ""))

    def _targets(self, commit: str, paths: Sequence[str]) -> dict[str, Target]:
        """Where paths lead if git follows the links in them, all in two calls of git."""
        found = {path: Target("outside") for path in paths}
        asked = [path for path in found if "\n" not in path]  # git reads a path a line
        if not asked:
            return found
        data = b"".join(f"{commit}:{path}\n".encode(errors="surrogateescape") for path in asked)
        answer = self._git("cat-file", "--batch-check=%(objectname)", "--follow-symlinks", data=data).stdout
        at = 0
        for path in asked:
            line, at = _line(answer, at)
            word, _, size = line.partition(b" ")
            if not size:
                found[path] = Target("file", word.decode())
            elif word in (b"symlink", b"dangling", b"loop", b"notdir"):
                at += int(size) + 1
                found[path] = Target("outside" if word == b"symlink" else "nothing")
        ids = [target.id for target in found.values() if target.id]
        data = "".join(f"{one}\n" for one in ids).encode()
        kinds = self._git("cat-file", "--batch-check=%(objecttype)", data=data).stdout.split(b"\n")
        folders = {one for one, kind in zip(ids, kinds, strict=False) if kind == b"tree"}
        return {
            path: Target("folder", target.id) if target.id in folders else target
            for path, target in found.items()
        }

    def read(self, ids: Iterable[str]) -> dict[str, bytes]:
        """The contents of files by their ids, in one call of git. Raises SparkgenError if one is missing."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        done = self._git("cat-file", "--batch", data="".join(f"{one}\n" for one in wanted).encode())
        contents: dict[str, bytes] = {}
        at = 0
        for one in wanted:
            header, start = _line(done.stdout, at)
            parts = header.split()
            if len(parts) != 3:
                raise SparkgenError(
                    f"git cannot read {one}: {(done.stderr or header).decode().strip()}; in a partial clone, "
                    "fetch what it left out: git fetch --refetch --no-filter origin"
                )
            end = start + int(parts[2])
            contents[one], at = done.stdout[start:end], end + 1
        return contents

    def write(self, commit: str, names: Iterable[str], folder: Path) -> None:
        """Write files of a commit into a new folder, at their paths from the root. Links stay links.

        `names`: files and folders with all that is in them, as the caller names them; others are left out.
        What links among them lead to is written, too. Raises SparkgenError if one cannot be written.
        """
        inside: list[str] = []
        for name in names:
            with suppress(SparkgenError):  # outside the repository, which a look at the files reports
                inside.append(self.inside(name))
        entries = self._with_targets(commit, inside)
        contents = self.read(id_ for mode, id_ in entries.values() if mode in (*_FILE_MODES, _LINK_MODE))
        for path, (mode, id_) in entries.items():
            if id_ in contents:
                _write(folder, path, mode, contents[id_])

    def _with_targets(self, commit: str, names: Sequence[str]) -> _Entries:
        """The files and links at paths of a commit, and those to which the links lead, round by round."""
        entries: _Entries = {}
        asked: set[str] = set()
        left = list(dict.fromkeys(names))
        for _ in range(_MOST_LINKS):
            if not left:
                return entries
            asked.update(left)
            if len(asked) > _MOST_NAMES:
                break
            found = self._entries("ls-tree", "-r", "-z", commit, "--", *left)
            above = dict.fromkeys(str(one) for path in left for one in PurePosixPath(path).parents)
            on_the_way = self._entries("ls-tree", "-z", commit, "--", *above) if above else {}
            links = {path: id_ for path, (mode, id_) in {**on_the_way, **found}.items() if mode == _LINK_MODE}
            texts = self.read(links.values())
            entries |= found | {path: entry for path, entry in on_the_way.items() if path in links}
            targets = {path: _target(path, texts[id_]) for path, id_ in links.items()}
            followed = [target for path, target in targets.items() if path in found]
            followed += [_through(name, targets) for name in left]
            left = [name for name in dict.fromkeys(followed) if name and name not in asked]
        raise SparkgenError(f"cannot check out {names[0]}: it has more than {_MOST_LINKS} links in a row")

    def tracked(self, paths: Iterable[Path]) -> set[Path]:
        """Those of the files that the index has with the same bytes. SparkgenError if git cannot tell."""
        inside = self._by_name(paths)
        ids: dict[Path, str] = {}
        for entry in self._index(inside, "--stage"):
            description, _, name = entry.partition("\t")
            mode, _, rest = description.partition(" ")
            if mode.encode() in _FILE_MODES and name in inside:
                ids[inside[name]] = rest.partition(" ")[0]
        return {one for one, id_ in ids.items() if _blob_id(one, id_) == id_}

    def in_index(self, paths: Iterable[Path]) -> set[Path]:
        """Those of the files that the index has, with any bytes. SparkgenError if git cannot tell."""
        inside = self._by_name(paths)
        return {inside[name] for name in self._index(inside) if name in inside}

    def hidden(self, paths: Iterable[Path]) -> dict[Path, str]:
        """Those of the files that differ from the index, and of which git status shows no change.

        Each with the option of `git update-index` that removes its flag. SparkgenError if git cannot tell.
        https://git-scm.com/docs/git-ls-files#Documentation/git-ls-files.txt--v
        """
        inside = self._by_name(paths)
        flagged: dict[Path, str] = {}
        for entry in self._index(inside, "-v"):
            flag, _, name = entry.partition(" ")
            if name in inside and (flag.islower() or flag == "S"):
                flagged[inside[name]] = "--no-skip-worktree" if flag == "S" else "--no-assume-unchanged"
        same = self.tracked(flagged) if flagged else set()
        return {file: option for file, option in flagged.items() if file not in same}

    def _index(self, names: Iterable[str], *options: str) -> Iterator[str]:
        """Yields what `git ls-files` says of the files, an entry each. SparkgenError if git cannot tell."""
        every = list(names)
        for start in range(0, len(every), _AT_ONCE):
            some = every[start : start + _AT_ONCE]
            done = _run(self.root, "ls-files", "-z", *options, "--", *some, seconds=_PATIENCE)
            if done.returncode:
                raise SparkgenError(f"git ls-files failed: {done.stderr.decode(errors='replace').strip()}")
            yield from done.stdout.decode(errors="surrogateescape").split("\0")

    def untracked(self, paths: Iterable[Path]) -> Untracked:
        """Those of the files that Git does not show. SparkgenError if git cannot tell."""
        inside = self._by_name(paths)
        known = {*self._index(inside)}
        new = {*self._index(inside, "--others", "--exclude-standard")} & {*inside}
        return Untracked(sorted(new), sorted({*inside} - known - new), self.hidden(inside.values()))

    def _by_name(self, paths: Iterable[Path]) -> dict[str, Path]:
        """Those of the files that are in the work tree, by their names from the root."""
        below = (one for one in paths if one.is_relative_to(self.root))
        return {one.relative_to(self.root).as_posix(): one for one in below}

    def inside(self, name: str) -> str:
        """The caller's name as a path below the root, with `/`. Raises SparkgenError if it is outside.

        Links below the root are not followed: the work tree's may differ from a commit's.
        """
        named = Path(os.path.normpath(Path.cwd().resolve() / name))
        relative = os.path.relpath(named if named.is_relative_to(self.root) else named.resolve(), self.root)
        if relative.startswith(".."):
            raise SparkgenError(f"{name} is outside the repository {self.root}")
        return Path(relative).as_posix()

    def _entries(self, *arguments: str) -> _Entries:
        done = self._git(*arguments)
        if done.returncode:
            raise SparkgenError(f"git {arguments[0]} failed: {done.stderr.decode().strip()}")
        found: _Entries = {}
        for entry in done.stdout.split(b"\0"):
            description, _, path = entry.partition(b"\t")
            parts = description.split()
            if len(parts) == 3:
                found[_inside(path.decode(errors="surrogateescape"))] = parts[0], parts[2].decode()
        return found

    def _git(self, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return _run(self.root, *arguments, data=data)


def _write(folder: Path, path: str, mode: bytes, data: bytes) -> None:
    """Write a file or a link of a commit below a folder. Raises SparkgenError if a link is on the way.

    A commit can have a link and a folder of one name, or of names that are one for the file system.
    """
    *parents, name = path.split("/")
    place = folder
    try:
        for part in parents:
            place = place / part
            if place.is_symlink():
                raise SparkgenError(f"cannot check out {path}: the commit has a file and a folder of it")
            place.mkdir(exist_ok=True)
        place = place / name
        if mode == _LINK_MODE:
            place.symlink_to(os.fsdecode(data))
            return
        with place.open("xb") as file:  # follows no link
            file.write(data)
        place.chmod(0o755 if mode == _FILE_MODES[1] else 0o644)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SparkgenError(f"cannot check out {path}: {reason}") from error


def _target(path: str, text: bytes) -> str:
    """The path in the commit to which a link leads; "" if it leads out."""
    target = os.path.normpath(os.path.join(os.path.dirname(path), os.fsdecode(text)))  # noqa: PTH118, PTH120
    return "" if target.startswith(("/", "..")) else target


def _through(name: str, targets: Mapping[str, str]) -> str:
    """The path at which a named file is if its path leads through a link; else "".

    `targets`: where each link leads; "" if it leads out.
    """
    above = next((path for one in PurePosixPath(name).parents if targets.get(path := str(one))), "")
    return targets[above] + name[len(above) :] if above else ""


def _is_shown(path: str) -> bool:
    return not any(part.startswith(".") for part in path.split("/"))


def _line(answer: bytes, at: int) -> tuple[bytes, int]:
    """The line of git's answer that starts at a position, and the position behind it. Copies no rest."""
    end = answer.find(b"\n", at)
    return (answer[at:end], end + 1) if end >= 0 else (answer[at:], len(answer))


def _blob_id(path: Path, like: str) -> str:
    """The id that Git gives a file's bytes, by the same hash as another id; "" if it cannot be read.

    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    """
    try:
        with path.open("rb") as file:
            header = b"blob %d\0" % os.fstat(file.fileno()).st_size
            kind = "sha1" if len(like) == _SHA1_LENGTH else "sha256"
            digest = hashlib.new(kind, header, usedforsecurity=False)
            while piece := file.read(_PIECE):
                digest.update(piece)
    except OSError:
        return ""
    return digest.hexdigest()


def _inside(path: str) -> str:
    """Returns the name of a file in a commit. SparkgenError for one that leads out: git fetches it, too."""
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise SparkgenError(
            f"the commit has a file named {path!r}, which leads out of the repository: take another commit"
        )
    return path


def repository(near: Path) -> Repository:
    """The repository that contains a folder. Raises SparkgenError if there is none."""
    # From the folder with `.git`: below it, git would take any folder with a repository's files for a
    # repository.
    done = _run(repository_root(near.resolve()), "rev-parse", "--show-toplevel")
    if done.returncode:
        said = done.stderr.decode().strip().removeprefix("fatal: ")
        raise SparkgenError(f"{near.resolve()} is not in a Git repository that git can read: {said}")
    return Repository(Path(done.stdout.decode().rstrip("\n")).resolve())


def _run(
    folder: Path, *arguments: str, data: bytes = b"", seconds: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", "--no-pager", *_OPTIONS, *arguments],
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            input=data,
            capture_output=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise SparkgenError(f"git {arguments[0]} in {folder} takes more than {seconds:.0f} s") from error
    except OSError as error:
        raise SparkgenError(f"cannot run git ({error.strerror}); install it, or check PATH") from error
