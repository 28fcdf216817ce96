"""`.sparkgen.yaml`, the configuration of a repository: finds it, and reads the fields for all commands.

```yaml
runtimeImage: registry.example.com/sparkgen-runtime:1@sha256:...
maxArtifactSize: 4Gi
lint: ...
```

Only sparkgen.lint reads the value of `lint:`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sparkgen.document.node import Document, Node
from sparkgen.document.parse import parse
from sparkgen.document.sources import read_file
from sparkgen.document.text import shortened
from sparkgen.errors import Position, Problem, Severity, SparkgenError

FILE_NAME = ".sparkgen.yaml"
RUNTIME_IMAGE = "runtimeImage"
MAX_ARTIFACT_SIZE = "maxArtifactSize"
FIELDS = ("lint", RUNTIME_IMAGE, MAX_ARTIFACT_SIZE)
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
    max_artifact_bytes: int | None = None


def find(here: Path, user: int | None = None) -> Path | None:
    """The configuration in a folder, or in the nearest one above it up to the repository's root, or None.

    The folder with `.git` is the root. Above `here`, a file counts only if its owner is root, `user` (by
    default the effective user) or the owner of `here`: folders above, such as /tmp, may be writable for
    anybody, and whoever writes this file chooses an image that gets a credential.
    """
    trusted = {0, os.geteuid() if user is None else user, here.stat().st_uid}
    for folder in (here, *here.parents):
        file = folder / FILE_NAME
        if file.is_file() and (folder == here or file.stat().st_uid in trusted):
            return file
        if (folder / ".git").exists():
            return None
    return None


def read(data: bytes, file: str) -> Configured | tuple[Problem, ...]:
    """The values in a configuration's bytes, or their problems (SG200, and those of the YAML)."""
    parts, problems = sections(data, file)
    given = {name: node for part in parts for name, node in part.items()}
    image, size = given.get(RUNTIME_IMAGE), given.get(MAX_ARTIFACT_SIZE)
    if problems:
        return tuple(problems)
    return Configured(
        None if image is None or image.value is None else image,
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
    field = f"{'.'.join(map(str, problem.path))} " if problem.path else ""
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
            yield mistake(root.keys[name], (name,), f"`{name}` is not a field here", step, name)
    image = root.entries.get(RUNTIME_IMAGE)
    if image is not None and image.value is not None and (said := _image_problem(image.value)):
        step = "for example: registry.example.com/sparkgen-runtime:1@sha256:..."
        yield mistake(image.position, (RUNTIME_IMAGE,), said, step, shortened(image.text))

    size = root.entries.get(MAX_ARTIFACT_SIZE)
    if size is not None and size.value is not None and not _SIZE.fullmatch(size.text):
        said, step = "must be a size in Mi or Gi", "for example: 4Gi"
        yield mistake(size.position, (MAX_ARTIFACT_SIZE,), said, step, shortened(size.text))


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
    """Returns SG200 for a mistake in `.sparkgen.yaml`."""
    return Problem("SG200", Severity.ERROR, position, path, message, found=found, next_step=step)


# --- values for documents -----------------------------------------------------------------------------


def lacks_image(document: Document) -> bool:
    """Whether a document's pods run the runtime image, but the document does not name it."""
    node = _holder(document)
    return node is not None and not node.value.get(RUNTIME_IMAGE) and not _runs_only_spark(document, node)


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


def place_of_image(document: Document) -> tuple[str, ...]:
    """The path of the field that names the runtime image; () for a kind without this field."""
    kind = document.value.get("kind")
    where = _KINDS.get(kind, ()) if isinstance(kind, str) else ()
    return (*where, RUNTIME_IMAGE) if where else ()


def _holder(document: Document) -> Node | None:
    """The mapping for the name of the runtime image; None if the document does not have it."""
    node: Node | None = document.node
    where = place_of_image(document)[:-1]
    for part in where:
        node = node.entries.get(part) if node is not None else None
    return node if where and node is not None and node.is_mapping else None


def lay_under(document: Document, configured: Configured) -> Document:
    """The document with the runtime image of the configuration, if it does not name one itself."""
    image = configured.runtime_image
    if image is None or not lacks_image(document):
        return document
    root = _with(document.node, place_of_image(document), image)
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
