"""`.sparkgen.yaml`, the configuration of a repository: finds it, and reads the fields for all commands.

```yaml
runtimeImage: registry.example.com/sparkgen-runtime:1@sha256:...
pythonImage: registry.example.com/python:3.13-slim@sha256:...
maxArtifactSize: 4Gi
lint: ...
```

Only sparkgen.lint reads the value of `lint:`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sparkgen.document.node import Document, Node
from sparkgen.document.parse import parse
from sparkgen.document.sources import read_file
from sparkgen.document.text import shortened
from sparkgen.errors import Position, Problem, Severity, SparkgenError, path_text

FILE_NAME = ".sparkgen.yaml"
RUNTIME_IMAGE = "runtimeImage"
RUNTIME_CONFIG_MAP = "runtimeConfigMap"
PYTHON_IMAGE = "pythonImage"
RUNTIME_FIELDS = (RUNTIME_IMAGE, RUNTIME_CONFIG_MAP, PYTHON_IMAGE)
"""Fields of a document, too, which takes precedence."""
MAX_ARTIFACT_SIZE = "maxArtifactSize"
FIELDS = ("lint", *RUNTIME_FIELDS, MAX_ARTIFACT_SIZE)
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_SIZE = re.compile(r"([1-9][0-9]{0,6})(Mi|Gi)")

# https://pkg.go.dev/github.com/distribution/reference: a domain, a path, and a tag, a digest or both.
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN = (
    rf"(?:localhost|{_LABEL}(?:\.{_LABEL})+|{_LABEL}(?:\.{_LABEL})*(?=:)|\[[0-9a-fA-F:]+\])(?::\d{{1,5}})?"
)
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_TAG, _DIGEST = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", r"sha256:[0-9a-f]{64}"
IMAGE = re.compile(
    rf"(?P<repository>{_DOMAIN}(?:/{_PART})+)(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?", re.ASCII
)
"""An image name with a registry: without one, each node may pull the image from a different registry."""

_IMAGES = {
    RUNTIME_IMAGE: "registry.example.com/sparkgen-runtime:1",
    PYTHON_IMAGE: "registry.example.com/python:3.13-slim",
}
"""The fields with images, and an example of each."""

_KINDS = {
    "SparkApplication": ("spec",),
    "ScheduledSparkApplication": ("spec", "template"),
    "SparkConnectServer": ("spec",),
    "SparkNotebook": ("spec",),
    "SparkShuffleService": ("spec",),
    "SparkStagingServer": ("spec",),
}
"""The kinds of documents whose pods run the runtime image -> the path of the mapping that names it."""


@dataclass(frozen=True, slots=True)
class Configured:
    """The values of the configuration that concern documents; None if the configuration has no value.

    `max_artifact_bytes`: the most bytes of all files of one artifact together.
    """

    runtime_image: Node | None = None
    runtime_config_map: Node | None = None
    python_image: Node | None = None
    max_artifact_bytes: int | None = None


def find(here: Path, user: int | None = None) -> Path | None:
    """The configuration in a folder, or in the nearest one above it up to the repository's root, or None.

    The folder with `.git` is the root. Above `here`, and in a folder that everybody may write to, a file
    counts only if its owner is root, `user` (by default the effective user) or the owner of `here`, and so is
    that of a link to it: whoever writes this file chooses an image that gets a credential.
    """
    place = here.stat()
    trusted = {0, os.geteuid() if user is None else user, place.st_uid}
    for folder in (here, *here.parents):
        file = folder / FILE_NAME
        if _is_file(file, None if folder == here and not place.st_mode & stat.S_IWOTH else trusted):
            return file
        if (folder / ".git").exists():
            return None
    return None


def _is_file(path: Path, trusted: set[int] | None) -> bool:
    """Whether there is a file, of a trusted owner; None: of anybody."""
    try:
        entry, target = path.lstat(), path.stat()
    except OSError:  # nothing, or a link of somebody to where this user may not look
        return False
    return stat.S_ISREG(target.st_mode) and (trusted is None or {entry.st_uid, target.st_uid} <= trusted)


def read(data: bytes, file: str) -> Configured | tuple[Problem, ...]:
    """The values in a configuration's bytes, or their problems (SG200, and those of the YAML)."""
    parts, problems = sections(data, file)
    given = {name: node for part in parts for name, node in part.items()}
    size = given.get(MAX_ARTIFACT_SIZE)
    if problems:
        return tuple(problems)
    runtime = (given.get(field) for field in RUNTIME_FIELDS)
    image, config_map, python = (None if node is None or node.value is None else node for node in runtime)
    return Configured(
        image,
        config_map,
        python,
        None if size is None or size.value is None else _bytes(size.text),
    )


def found() -> str:
    """Returns the path of the configuration for the working directory; "" if there is none."""
    file = find(Path.cwd())
    return os.path.relpath(file) if file else ""


def settings_of(file: str) -> Configured:
    """Returns a configuration's settings for documents ("": none). SparkgenError lists all its problems."""
    if not file:
        return Configured()
    data = read_file(file)
    if isinstance(data, Problem):
        raise SparkgenError(f"cannot read the configuration {file}: {data.message}; {data.next_step}")
    return settings(data, file)


def settings(data: bytes, file: str) -> Configured:
    """Returns the settings for documents in a configuration's bytes; `file`: its name in messages."""
    said = read(data, file)
    if isinstance(said, Configured):
        return said
    raise error_about(said)


def error_about(problems: Iterable[Problem]) -> SparkgenError:
    """Returns an error that lists all problems of a configuration."""
    return SparkgenError(
        "the configuration of the repository has errors:\n" + "\n".join(map(_line, problems))
    )


def _line(problem: Problem) -> str:
    value = f" (found: {problem.found})" if problem.found else ""
    field = f"{path_text(problem.path)} " if problem.path else ""
    step = f"; {problem.next_step}" if problem.next_step else ""
    return f"{problem.position}: error[{problem.code}] {field}{problem.message}{value}{step}"


def sections(data: bytes, file: str) -> tuple[list[Mapping[str, Node]], list[Problem]]:
    """The fields of each document in a configuration's bytes, and all problems but those below `lint`."""
    parsed = parse(data, file)
    found = [*parsed.problems, *(problem for part in parsed.documents for problem in part.problems)]
    problems = [problem for problem in found if problem.severity is Severity.ERROR]
    roots = [part.root for part in parsed.documents if part.root is not None and not problems]
    wrong = [problem for root in roots if root.value is not None for problem in _top_level(root)]
    return [root.entries for root in roots], problems + wrong


def _top_level(root: Node) -> Iterator[Problem]:
    """The problems with the fields of a configuration, without those below `lint`."""
    if not root.is_mapping:
        yield mistake(root.position, (), "must be a mapping", "for example: lint: ...", root.text)
        return
    for name in root.entries:
        if name not in FIELDS:
            from sparkgen.textdiff import nearest  # noqa: PLC0415 - for a mistake alone

            near = nearest(name, FIELDS)
            step = f"write `{near}`" if near else f"write one of {', '.join(FIELDS)}"
            message = f"`{shortened(name)}` is not a field here"
            yield mistake(root.keys[name], (name,), message, step, name)
    yield from _runtime_problems(root)
    size = root.entries.get(MAX_ARTIFACT_SIZE)
    if size is not None and size.value is not None and not _SIZE.fullmatch(size.text):
        said, step = "must be a size in Mi or Gi", "for example: 4Gi"
        yield mistake(size.position, (MAX_ARTIFACT_SIZE,), said, step, size.text)


def _runtime_problems(root: Node) -> Iterator[Problem]:
    """The problems with the fields for the runtime."""
    for field, example in _IMAGES.items():
        image = root.entries.get(field)
        if image is not None and image.value is not None and (said := _image_problem(image.value)):
            step = f"for example: {example}@sha256:..."
            yield mistake(image.position, (field,), said, step, image.text)
    name = root.entries.get(RUNTIME_CONFIG_MAP)
    if name is None or name.value is None:
        return
    if not isinstance(name.value, str) or not _NAME.fullmatch(name.value):
        step = "sparkgen runtime --name prints the name of this version's"
        yield mistake(name.position, (RUNTIME_CONFIG_MAP,), "must be a ConfigMap's name", step, name.text)
    elif (image := root.entries.get(RUNTIME_IMAGE)) is not None and image.value is not None:
        step = f"delete `{RUNTIME_CONFIG_MAP}` or `{RUNTIME_IMAGE}`: one of them has the runtime"
        said = f"`{RUNTIME_IMAGE}` is set, too"
        yield mistake(name.position, (RUNTIME_CONFIG_MAP,), said, step, name.text)


def _bytes(text: str) -> int | None:
    found = _SIZE.fullmatch(text)
    return int(found[1]) << {"Mi": 20, "Gi": 30}[found[2]] if found else None


def _image_problem(value: object) -> str:
    if not isinstance(value, str):
        return "must be an image name"
    found = IMAGE.fullmatch(value)
    if found is None:
        return "is not an image name with a registry"
    return "" if found["tag"] or found["digest"] else "has neither a tag nor a digest"


def mistake(position: Position, path: tuple[str | int, ...], message: str, step: str, found: str) -> Problem:
    """Returns SG200 for a mistake in `.sparkgen.yaml`; of what was found, only the beginning."""
    return Problem("SG200", Severity.ERROR, position, path, message, found=shortened(found), next_step=step)


# --- values for documents -----------------------------------------------------------------------------


def lacks_runtime(document: Document) -> bool:
    """Whether a document's pods need the runtime, but the document does not say where it is."""
    node = _holder(document)
    if node is None or _runs_only_spark(document, node):
        return False
    return not (node.value.get(RUNTIME_IMAGE) or node.value.get(RUNTIME_CONFIG_MAP))


def _runs_only_spark(document: Document, spec: Node) -> bool:
    """Whether Spark creates the executors, and neither `fetch` runs nor the Job that removes runs."""
    value = spec.value
    if value.get("allocator") != "spark":
        return False
    metadata, run, artifacts = document.value.get("metadata"), value.get("run"), value.get("artifacts")
    target = metadata.get("target", "kubectl") if isinstance(metadata, dict) else "kubectl"
    history = run.get("history") if isinstance(run, dict) else None
    listed = artifacts if isinstance(artifacts, list) else ()
    fetches = any("contents" not in one for one in listed if isinstance(one, dict))
    return target == "kubectl" and not history and not fetches


def place_of_runtime(document: Document) -> tuple[str, ...]:
    """The path of the mapping that says where the runtime is; () for a kind that needs none."""
    kind = document.value.get("kind")
    return _KINDS.get(kind, ()) if isinstance(kind, str) else ()


def _holder(document: Document) -> Node | None:
    """Returns the mapping for `runtimeImage` and `runtimeConfigMap`; None if the document lacks it."""
    node: Node | None = document.node
    where = place_of_runtime(document)
    for part in where:
        node = node.entries.get(part) if node is not None else None
    return node if where and node is not None and node.is_mapping else None


def lay_under(document: Document, configured: Configured) -> Document:
    """The document with the runtime of the configuration, if it does not name one itself."""
    if lacks_runtime(document):
        document = with_field(document, RUNTIME_IMAGE, configured.runtime_image)
    if lacks_runtime(document):
        document = with_field(document, RUNTIME_CONFIG_MAP, configured.runtime_config_map)
    node = _holder(document)
    if node is None or node.value.get(RUNTIME_IMAGE) or node.value.get(PYTHON_IMAGE):
        return document
    return with_field(document, PYTHON_IMAGE, configured.python_image)


def with_field(document: Document, field: str, value: Node | None) -> Document:
    """The document with a field that says where the runtime is; unchanged if the value is None."""
    if value is None:
        return document
    root = _with(document.node, (*place_of_runtime(document), field), value)
    return replace(document, node=root, value=root.value)


def _with(node: Node, path: tuple[str, ...], child: Node) -> Node:
    first, *rest = path
    own = _with(node.entries[first], tuple(rest), child) if rest else child
    return replace(
        node,
        value={**node.value, first: own.value},
        keys={first: own.position, **node.keys},
        children={**node.entries, first: own},
    )
