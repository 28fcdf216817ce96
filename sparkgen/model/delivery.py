"""A document's local files as pods have them: what was pushed, and how pods get it.

A local entry begins with `./` or `../`. Once it was pushed, the artifacts of the document say at which paths
pods have it: below `contract.ARTIFACTS_DIR`, in driver and executors alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sparkgen import contract

ArtifactName = Literal["code", "dependencies"]
CODE: ArtifactName = "code"
DEPENDENCIES: ArtifactName = "dependencies"

LOCAL_MARKS = ("./", "../")
"""How a local entry begins; everything else is in the image, or behind a URL."""

MAIN_FILE_FIELD = "mainApplicationFile"
REQUIREMENTS_FIELD = "requirements"

DELIVERED_LISTS: Mapping[str, tuple[ArtifactName, str]] = {
    "jars": (DEPENDENCIES, "local"),
    "archives": (DEPENDENCIES, "file"),
    "files": (CODE, "file"),
    "pyFiles": (CODE, "file"),
}
"""Field of `deps` -> the artifact that has its local entries, and the scheme by which Spark is told of them.

A jar is `local:`, so that executors take it from their own disk (SparkContext.addJar). The others are
`file:`, as in spark-submit's client mode: Spark puts nothing of `local:` into the working directory of an
executor, nor where SparkFiles looks (SparkContext.addFile: "local" is skipped with a warning).
"""

PYTHON_FILES = "spark.submit.pyFiles"
PYTHON_SUFFIXES = (".py", ".zip", ".egg", ".jar", ".whl")
"""How the names of single files of modules end; an entry with another name is a folder."""
IN_IMAGE = re.compile(r"local:(?://[^/]*)?(/.*)")
"""An entry that is in the image. Spark's driver finds it there, and sends it to no executor."""

DELIVERED_MAIN_FILE = (CODE, "local")
"""The same for the main file: the driver has it on its own disk, whatever its language."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """What `fetch` has to know of an artifact: sizes are bytes, digests `sha256:` and 64 hex digits."""

    name: str
    reference: str
    digest: str
    size: int
    unpacked_size: int


@dataclass(frozen=True, slots=True)
class ImageModules:
    """Python's modules in the image, by their paths: archives and folders, and single files."""

    path: tuple[str, ...]
    files: tuple[str, ...]
    submitted: tuple[str, ...]
    """The entries that spark-submit gets: all but folders of the image, which it refuses."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How pods get the artifacts, and which; `python_path`: directories for Python, the first found first.

    `ca`: name and key of a ConfigMap. With `image` the kubelet mounts the artifacts, and the runtime image.
    """

    mount: Literal["fetch", "image"]
    artifacts: tuple[Artifact, ...]
    python_path: tuple[str, ...]
    insecure: bool
    ca: Mapping[str, str] | None
    pull_secret: str | None
    cache_volume: str | None

    @property
    def by_kubelet(self) -> bool:
        """Whether image volumes take the place of init containers."""
        return self.mount == "image"

    @property
    def fetches(self) -> bool:
        """Whether pods have the init container `fetch`."""
        return bool(self.artifacts) and not self.by_kubelet


def fetches(spec: Mapping[str, Any]) -> bool:
    """Say whether the pods of an application's spec have the init container `fetch`."""
    return bool(spec.get("artifacts")) and (spec.get("delivery") or {}).get("mount", "fetch") == "fetch"


def is_local(entry: object) -> bool:
    """Say whether an entry of the document names a file beside it."""
    return isinstance(entry, str) and entry.startswith(LOCAL_MARKS)


def delivery(spec: Mapping[str, Any]) -> Delivery | None:
    """How pods get what was pushed; None where nothing was, and the kubelet mounts nothing either."""
    section, given = spec.get("delivery") or {}, spec.get("artifacts") or ()
    mount = section.get("mount", "fetch")
    if not given and mount == "fetch":
        return None
    return Delivery(
        mount=mount,
        artifacts=tuple(
            Artifact(one["name"], one["reference"], one["digest"], one["size"], one["unpackedSize"])
            for one in given
        ),
        python_path=tuple(python_path(spec)),
        insecure=bool(section.get("insecure", False)),
        ca=section.get("caConfigMap"),
        pull_secret=section.get("pullSecret"),
        cache_volume=section.get("cacheVolume"),
    )


def staging_server(spec: Mapping[str, Any], namespace: str) -> Mapping[str, str] | None:
    """Name and namespace of the staging server that an application in this namespace names."""
    section = (spec.get("delivery") or {}).get("stagingServer")
    if section is None:
        return None
    return {"name": section.get("name", ""), "namespace": section.get("namespace") or namespace}


def delivered(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The spec with paths in pods in place of the local entries that were pushed.

    An entry that no artifact has stays as it is. Directories of `pyFiles` are left out: they are on the
    PYTHONPATH.
    """
    if not spec.get("artifacts"):
        return spec
    found = dict(spec)
    main = found.get(MAIN_FILE_FIELD)
    if places := _in_pods(spec, main, *DELIVERED_MAIN_FILE):
        found[MAIN_FILE_FIELD] = places[0]
    deps = dict(spec.get("deps") or {})
    for field, (artifact, scheme) in DELIVERED_LISTS.items():
        if field in deps:
            deps[field] = [
                place for entry in deps[field] for place in _replaced(spec, entry, artifact, scheme)
            ]
    return {**found, "deps": deps} if deps else found


def python_path(spec: Mapping[str, Any]) -> Iterator[str]:
    """The directories for PYTHONPATH: those of `pyFiles`, and then the packages of `requirements`."""
    deps = spec.get("deps") or {}
    wanted = [(CODE, entry) for entry in deps.get("pyFiles") or ()]
    if REQUIREMENTS_FIELD in deps:
        wanted.append((DEPENDENCIES, deps[REQUIREMENTS_FIELD]))
    for artifact, entry in wanted:
        for path in _paths(spec, entry, artifact) or ():
            if path.endswith("/"):
                yield f"{contract.ARTIFACTS_DIR}/{artifact}/{path.rstrip('/')}"


def image_modules(properties: Mapping[str, str]) -> ImageModules:
    """What the image has of the entries of `deps.pyFiles`, or of the property that says the same."""
    entries = [entry.strip() for entry in properties.get(PYTHON_FILES, "").split(",")]
    paths = [found[1] for entry in entries if (found := IN_IMAGE.fullmatch(entry))]
    return ImageModules(
        tuple(path for path in paths if not path.endswith(".py")),
        tuple(path for path in paths if path.endswith(".py")),
        tuple(entry for entry in entries if not IN_IMAGE.fullmatch(entry) or entry.endswith(PYTHON_SUFFIXES)),
    )


def _replaced(spec: Mapping[str, Any], entry: str, artifact: str, scheme: str) -> list[str]:
    known = _paths(spec, entry, artifact) is not None
    return _in_pods(spec, entry, artifact, scheme) if known else [entry]


def _in_pods(spec: Mapping[str, Any], entry: Any, artifact: str, scheme: str) -> list[str]:
    """The URIs by which Spark in a pod finds an entry; `#name` of an archive stays at its end."""
    _, mark, fragment = str(entry).partition("#")
    return [
        f"{scheme}://{contract.ARTIFACTS_DIR}/{artifact}/{path}{mark}{fragment}"
        for path in _paths(spec, entry, artifact) or ()
        if not path.endswith("/")
    ]


def _paths(spec: Mapping[str, Any], entry: Any, artifact: str) -> Sequence[str] | None:
    """The paths of an entry inside of an artifact, as the lock has them; None where no artifact has it."""
    local = is_local(entry) or (artifact == DEPENDENCIES and entry == _requirements(spec))
    for one in spec.get("artifacts") or ():
        if local and one["name"] == artifact and entry in one["files"]:
            paths: Sequence[str] = one["files"][entry]
            return paths
    return None


def _requirements(spec: Mapping[str, Any]) -> Any:
    return (spec.get("deps") or {}).get(REQUIREMENTS_FIELD)
