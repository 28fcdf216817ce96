"""The runtime as files of a ConfigMap: a zip application for Python, and the scheduler jar of a Scala line.

The wheel of a release contains them. A checkout makes them once, from the same sources, in the cache. The
bytes depend on the sources and the pinned libraries, so their digest names a ConfigMap that anybody can make
again.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkgen import contract
from sparkgen.image import context
from sparkgen.image.pins import LIBRARIES
from sparkgen.local.cache import cache_root, key, publish
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import Progress
from sparkgen.local.scala import write_zip
from sparkgen.objects import Object
from sparkgen.resources.gitops import for_every_target
from sparkgen.runtime.files import replace_file
from sparkgen.spark_versions import COMPILED

FOLDER = "SPARKGEN_RUNTIME"
"""The variable that names a folder with the files, made on another machine by `sparkgen runtime --output`."""
SHIPPED = context.PACKAGE / "_runtime_files"
"""The folder of a wheel with the files; a checkout has none."""
DIGEST_LENGTH = 32
"""Hexadecimal characters of the SHA-256 in a name: nobody can make other files with the same name."""
FILES = (contract.RUNTIME_PROGRAM_FILE, contract.RUNTIME_JAR_FILE)
"""The keys of the ConfigMap."""
Alteration = tuple[tuple[str, ...], str]
"""The path of a field, and what is wrong with it."""
_NAME = re.compile(rf"{contract.RUNTIME_NAME}-([0-9]+\.[0-9]+)-[0-9a-f]{{{DIGEST_LENGTH}}}")
_WAYS_OUT = (
    f"To compile nothing here, set {FOLDER} to a folder that sparkgen runtime --output FOLDER wrote on "
    "another machine, or set runtimeImage in .sparkgen.yaml to an image that sparkgen image build made"
)
_MAIN = "from sparkgen.runtime.__main__ import run\n\nrun()\n"


@dataclass(frozen=True, slots=True)
class RuntimeFiles:
    """What the containers of sparkgen run with a Scala line: the zip application and the scheduler jar."""

    line: str
    program: bytes
    jar: bytes

    @property
    def content(self) -> Mapping[str, bytes]:
        """The files by their keys in the ConfigMap."""
        return dict(zip(FILES, (self.program, self.jar), strict=True))

    @property
    def name(self) -> str:
        """The name of the ConfigMap, with the digest of the files."""
        whole = hashlib.sha256()
        for file, data in self.content.items():
            whole.update(f"{file} {len(data)}\n".encode() + data)
        return f"{contract.RUNTIME_NAME}-{self.line}-{whole.hexdigest()[:DIGEST_LENGTH]}"

    def config_map(self, namespace: str) -> Object:
        """The ConfigMap for a namespace: no application owns it, and every GitOps controller keeps it."""
        item = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": self.name,
                "namespace": namespace,
                "labels": {
                    contract.LABEL_NAME: contract.RUNTIME_NAME,
                    contract.LABEL_COMPONENT: contract.RUNTIME_NAME,
                    contract.LABEL_MANAGED_BY: "sparkgen",
                },
            },
            "immutable": True,
            "binaryData": {file: b64encode(data).decode() for file, data in self.content.items()},
        }
        return for_every_target(item)


def line_of(name: str) -> str:
    """The Scala line in the name of a ConfigMap with the runtime, of any version; "" for another name."""
    found = _NAME.fullmatch(name)
    return found[1] if found else ""


def name_in(stem: str) -> str:
    """The name of a ConfigMap with the runtime at the end of a file's name without suffix; or ""."""
    _, start, rest = stem.rpartition(f"{contract.RUNTIME_NAME}-")
    return f"{start}{rest}" if line_of(f"{start}{rest}") else ""


def files_in(item: Any) -> RuntimeFiles | None:
    """The files in a ConfigMap of the runtime, of any version; None if its name is of other content."""
    try:
        name, content = item["metadata"]["name"], item["binaryData"]
        program, jar = (b64decode(content[file], validate=True) for file in FILES)
        files = RuntimeFiles(line_of(name), program, jar)
    except (KeyError, TypeError, ValueError):
        return None
    whole = len(content) == len(FILES) and not item.get("data") and item.get("immutable") is True
    return files if whole and files.name == name else None


def alterations(item: Any) -> Iterator[Alteration]:
    """What in an object is not as sparkgen, of any version, renders it for the runtime."""
    if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
        yield (), "is not a ConfigMap with the runtime"
        return
    name, content = item["metadata"].get("name"), item.get("binaryData")
    given = content if isinstance(content, dict) else {}
    line = line_of(name) if isinstance(name, str) else ""
    read = {file: _decoded(given.get(file)) for file in FILES}
    own = RuntimeFiles(line, *(data or b"" for data in read.values())).config_map(
        item["metadata"].get("namespace")
    )
    if not line:
        yield ("metadata", "name"), "has no Scala version and digest, as the name of a runtime has"
    elif None not in read.values() and own["metadata"]["name"] != name:
        yield ("binaryData",), f"has another digest than the name: that of {own['metadata']['name']}"
    own["metadata"]["name"] = name
    yield from _differences(item, own, ())


def _decoded(text: Any) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except (TypeError, ValueError):
        return None


def _differences(
    found: dict[Any, Any], own: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[Alteration]:
    for name in dict.fromkeys([*found, *own]):
        place = (*path, str(name))
        if name not in own:
            yield place, "is not in what sparkgen writes"
        elif name not in found:
            yield place, "is missing"
        elif isinstance(found[name], dict) and isinstance(own[name], dict):
            yield from _differences(found[name], own[name], place)
        elif type(found[name]) is not type(own[name]) or found[name] != own[name]:
            file = "base64 without line ends or other characters" if name in FILES else ""
            text = "a mapping" if isinstance(own[name], dict) else json.dumps(own[name])
            yield place, f"must be {file or text}"


def is_shared(item: Any) -> bool:
    """Whether an object is what sparkgen, of any version, renders for the runtime, and nothing else."""
    return next(alterations(item), None) is None


def ready(environment: Mapping[str, str]) -> str:
    """The folder with the files, which then need no compiler; "" without one."""
    return environment.get(FOLDER) or (str(SHIPPED) if SHIPPED.is_dir() else "")


def runtime_files(line: str, environment: Mapping[str, str], progress: Progress) -> RuntimeFiles:
    """The files for a Scala line, made if the cache has none. Raises CannotRun if that fails."""
    if line not in COMPILED:
        known = " and ".join(COMPILED)
        raise CannotRun(
            f"sparkgen has its scheduler jar for Scala {known}, not for {line}; set spec.scalaVersion to one "
            "of them, or set spec.runtimeImage to an image with your own jar"
        )
    if folder := ready(environment):
        return _read(Path(folder), line)
    try:
        jar = context.scheduler_jar(line, environment, progress)
        return RuntimeFiles(line, _program(environment, progress).read_bytes(), jar.read_bytes())
    except CannotRun as error:
        raise CannotRun(f"{error}. {_WAYS_OUT}") from error


def _read(folder: Path, line: str) -> RuntimeFiles:
    try:
        program, jar = (
            (folder / name).read_bytes() for name in (contract.RUNTIME_PROGRAM_FILE, jar_name(line))
        )
    except OSError as error:
        raise CannotRun(
            f"cannot read {error.filename}: {error.strerror}; to make the files of the runtime, run: "
            f"sparkgen runtime --output FOLDER, and set {FOLDER} to this folder"
        ) from error
    return RuntimeFiles(line, program, jar)


def write(folder: Path, environment: Mapping[str, str], progress: Progress) -> None:
    """Write the files of all Scala lines to a folder, as a wheel contains them."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [runtime_files(line, environment, progress) for line in COMPILED]
    # Not through a link, which a stranger's checkout may have in its place.
    replace_file(folder / contract.RUNTIME_PROGRAM_FILE, made[0].program)
    for files in made:
        replace_file(folder / jar_name(files.line), files.jar)


def jar_name(line: str) -> str:
    """The file of a wheel with the scheduler jar of a Scala line."""
    return f"{contract.RUNTIME_JAR_PREFIX}{line}.jar"


def _program(environment: Mapping[str, str], progress: Progress) -> Path:
    """The zip application in the cache, made if it is missing."""
    own = dict(context.package())
    parts = [part for name, data in own.items() for part in (name, data)]
    pins = [pin.requirement for pin in LIBRARIES]
    made = publish(
        cache_root(environment) / "runtime-program" / key(_MAIN, *pins, *parts),
        lambda fresh: _make_program(fresh / contract.RUNTIME_PROGRAM_FILE, own, progress),
        lambda: progress.say("waiting for the runtime, which another process is making"),
    )
    return made / contract.RUNTIME_PROGRAM_FILE


def _make_program(target: Path, own: Mapping[str, bytes], progress: Progress) -> None:
    with tempfile.TemporaryDirectory(prefix="sparkgen-runtime-") as work:
        folder = Path(work, "python")
        context.libraries(folder, Path(work, "download"), progress)
        paths = (path for path in folder.rglob("*") if path.is_file())
        libraries = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    write_zip(target, {**libraries, **own, "__main__.py": _MAIN.encode()})
