"""Checks what is in the runtime image of a release: its size, and that each architecture has all it needs.

    python -m release.contents ARCHIVE

No program of an image runs: an amd64 machine checks the image for arm64, too.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Any

from common.cachedir import ToolError
from common.command import tells_errors
from release import archives

_PROGRAM = Path(__file__).resolve().parents[2] / "images" / "runtime" / "assemble.py"
MOST_BYTES = 60_000_000
"""The largest size of the layers of an architecture, unpacked."""
MACHINES = {"amd64": 62, "arm64": 183}
"""Architecture -> its number in ELF files (e_machine)."""
ARCHITECTURE_NAMES = re.compile(r"x86[_-]64|aarch64|ld-linux-ARCH\.so\.[0-9]")
"""What differs in the names of the files of two architectures."""
LINKER = re.compile(r"lib64|(usr/)?lib(64)?/ARCH")
"""The dynamic linker, which has its own folder for each architecture, and is found by what programs name."""
LIBRARY_FOLDER = re.compile(r"(usr/)?(local/)?lib(64)?(/[a-z0-9_]+-linux-[a-z]+)?")
"""Where the dynamic linker looks for libraries."""


@dataclass(slots=True)
class Contents:
    """The files of an image for one architecture. `packed`: bytes as the archive has them; `size`: unpacked.

    `links`: symbolic links with their targets; `programs`: programs and libraries with what they need.
    """

    architecture: str
    packed: int = 0
    size: int = 0
    files: dict[str, int] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    programs: dict[str, Any] = field(default_factory=dict)

    def real(self, path: str) -> str:
        """A path without links; "" if it leads to no file."""
        parts, here = path.split("/")[::-1], PurePosixPath("/")
        for _ in range(1000):
            if not parts:
                break
            part = parts.pop()
            here = here.parent if part == ".." else here / part
            if (goal := self.links.get(str(here)[1:])) is not None:
                parts += goal.split("/")[::-1]
                here = PurePosixPath("/") if goal.startswith("/") else here.parent
        return str(here)[1:] if str(here)[1:] in self.files else ""


@cache
def _assemble() -> Any:
    """The program that makes the image, as a module: it reads ELF files."""
    spec = importlib.util.spec_from_file_location("assemble", _PROGRAM)
    if spec is None or spec.loader is None:
        raise ToolError(f"there is no {_PROGRAM}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # its folder goes into wheels
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


def read(archive: Path) -> list[Contents]:
    """The contents of an OCI archive, by architecture."""
    with tarfile.open(archive) as files:
        return [_contents(files, manifest) for manifest in archives.manifests(files)]


def _contents(files: tarfile.TarFile, manifest: Mapping[str, Any]) -> Contents:
    configuration = json.load(archives.blob(files, manifest["config"]["digest"]))
    found = Contents(str(configuration["architecture"]))
    for layer in manifest["layers"]:
        found.packed += layer["size"]
        with tarfile.open(fileobj=archives.blob(files, layer["digest"])) as content:
            for entry in content:
                _add(found, content, entry)
            found.size += content.offset
    return found


def _add(found: Contents, content: tarfile.TarFile, entry: tarfile.TarInfo) -> None:
    name = str(PurePosixPath("/", entry.name))[1:]
    if entry.issym():
        found.links[name] = entry.linkname
    elif entry.isfile() or entry.islnk():
        data = _data(content, entry).read()
        found.files[name] = len(data) if entry.isfile() else 0
        if (elf := _assemble().read_elf(data)) is not None:
            found.programs[name] = elf


def _data(content: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    data = content.extractfile(entry)
    if data is None:
        raise ToolError(f"{entry.name} of the image is not a file")
    return data


def problems(found: list[Contents]) -> Iterator[str]:
    """What is wrong with the contents of the image for all architectures, in words."""
    have = sorted(one.architecture for one in found)
    if have != sorted(MACHINES):
        yield f"the image is for {', '.join(have)}, and must be for {' and '.join(sorted(MACHINES))}"
    for one in found:
        if one.size > MOST_BYTES:
            yield f"{one.architecture}: {one.size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f} MB"
        yield from _lacking(one)
    names = {one.architecture: _neutral([*one.files, *one.links]) for one in found}
    for architecture, own in sorted(names.items()):
        missing = sorted(set().union(*names.values()) - own)
        if missing:
            yield f"{architecture}: missing {', '.join(missing)}"


def _lacking(found: Contents) -> Iterator[str]:
    """Programs for another architecture, and what programs need but the image does not have."""
    if not found.programs:
        yield f"{found.architecture}: there is no program in it"
    for path, elf in sorted(found.programs.items()):
        if elf.machine[2] != MACHINES.get(found.architecture):
            yield f"{found.architecture}: {path} is for another architecture ({elf.machine[2]})"
        if elf.interpreter and found.real(elf.interpreter) not in found.programs:
            yield f"{found.architecture}: there is no {elf.interpreter}, which {path} needs"
        own = [folder.replace("$ORIGIN", f"/{PurePosixPath(path).parent}") for folder in elf.search]
        yield from (
            f"{found.architecture}: there is no {name}, which {path} needs"
            for name in elf.needed
            if not any(found.real(where) in found.programs for where in _places(found, name, own))
        )


def _places(found: Contents, name: str, own: list[str]) -> list[str]:
    """The paths at which the dynamic linker finds a library."""
    everywhere = [path for path in (*found.files, *found.links) if path.endswith(f"/{name}")]
    return [
        *(f"{folder}/{name}" for folder in own),
        *(path for path in everywhere if LIBRARY_FOLDER.fullmatch(path[: -len(name) - 1])),
    ]


def _neutral(names: list[str]) -> set[str]:
    """The names of files, the same for all architectures."""
    neutral = {ARCHITECTURE_NAMES.sub("ARCH", ARCHITECTURE_NAMES.sub("ARCH", name)) for name in names}
    return {name for name in neutral if not LINKER.fullmatch(name)}


def check(archive: Path) -> str:
    """The sizes, a line for each architecture. Raises ToolError if something is wrong with the image."""
    found = read(archive)
    if wrong := list(problems(found)):
        raise ToolError(f"the runtime image in {archive} cannot be released:\n" + "\n".join(wrong))
    return "\n".join(
        f"{one.architecture}: {one.size / 1e6:.1f} MB unpacked, {one.packed / 1e6:.1f} MB in the archive, "
        f"{len(one.files)} files, {len(one.programs)} programs and libraries"
        for one in found
    )


@tells_errors
def main() -> int:
    """Check the archive in the only argument. Returns the exit code."""
    print(check(Path(sys.argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
