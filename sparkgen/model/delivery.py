"""A document's local files in pods: which were pushed, and how pods get them.

A local entry begins with `./` or `../`. After a push, the artifacts of the document have the paths of its
files in pods: below `contract.ARTIFACTS_DIR`, equal in driver and executors.
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
ARTIFACT_NAMES = (CODE, DEPENDENCIES)

LOCAL_MARKS = ("./", "../")
"""The beginnings of a local entry; all other entries are in the image, or at a URL."""

MAIN_FILE_FIELD = "mainApplicationFile"
REQUIREMENTS_FIELD = "requirements"

DELIVERED_LISTS: Mapping[str, tuple[ArtifactName, str]] = {
    "jars": (DEPENDENCIES, "local"),
    "archives": (DEPENDENCIES, "file"),
    "files": (CODE, "file"),
    "pyFiles": (CODE, "file"),
}
"""Field of `deps` -> the artifact with its local entries, and the scheme of their URIs for Spark.

A jar is `local:`, so that executors read it from their own disk (SparkContext.addJar). The others are
`file:`, as in spark-submit's client mode: Spark copies `local:` files neither to the working directory of an
executor nor to the folder of SparkFiles (SparkContext.addFile: "local" is skipped with a warning).
"""

PYTHON_FILES = "spark.submit.pyFiles"
PYTHON_SUFFIXES = (".py", ".zip", ".egg", ".jar", ".whl")
"""The endings of single files of modules; an entry with another ending is a folder."""
IN_IMAGE = re.compile(r"local:(?://[^/]*)?(/.*)")
"""An entry in the image. Spark's driver uses it there, and does not send it to executors."""

DELIVERED_MAIN_FILE = (CODE, "local")
"""Artifact and scheme of the main file: the driver has it on its own disk, whatever its language."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """What `fetch` needs of an artifact: sizes in bytes, the digest as `sha256:` and 64 hex digits.

    `contents`: the files, which a ConfigMap of the run contains; `reference` is "" then.
    """

    name: str
    reference: str
    digest: str
    size: int
    unpacked_size: int
    contents: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ImageModules:
    """Python modules in the image, by path: archives and folders (`path`), and single files (`files`)."""

    path: tuple[str, ...]
    files: tuple[str, ...]
    submitted: tuple[str, ...]
    """The entries for spark-submit: all but folders of the image, which it refuses."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Which artifacts pods get, and how; `python_path`: directories for Python, in the order of precedence.

    `ca`: name and key of a ConfigMap. With `image`, the kubelet mounts the artifacts, and the runtime image.
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
        """Whether image volumes replace the init containers."""
        return self.mount == "image"

    @property
    def fetches(self) -> bool:
        """Whether pods have the init container `fetch`."""
        return not self.by_kubelet and any(one.contents is None for one in self.artifacts)

    @property
    def mounted(self) -> dict[str, Mapping[str, Any]]:
        """The contents of the run's ConfigMaps, by the names of their artifacts."""
        return {one.name: one.contents for one in self.artifacts if one.contents is not None}


def fetches(spec: Mapping[str, Any]) -> bool:
    """Whether the pods of an application's spec have the init container `fetch`."""
    downloaded = any("contents" not in one for one in spec.get("artifacts") or ())
    return downloaded and (spec.get("delivery") or {}).get("mount", "fetch") == "fetch"


def is_local(entry: object) -> bool:
    """Whether an entry of the document names a file beside the document."""
    return isinstance(entry, str) and entry.startswith(LOCAL_MARKS)


def delivery(spec: Mapping[str, Any]) -> Delivery | None:
    """How pods get pushed files; None if none were pushed and the kubelet mounts nothing either."""
    section, given = spec.get("delivery") or {}, spec.get("artifacts") or ()
    mount = section.get("mount", "fetch")
    if not given and mount == "fetch":
        return None
    return Delivery(
        mount=mount,
        artifacts=tuple(
            Artifact(
                one["name"],
                one.get("reference", ""),
                one["digest"],
                one["size"],
                one["unpackedSize"],
                one.get("contents"),
            )
            for one in given
        ),
        python_path=tuple(python_path(spec)),
        insecure=bool(section.get("insecure", False)),
        ca=section.get("caConfigMap"),
        pull_secret=section.get("pullSecret"),
        cache_volume=section.get("cacheVolume"),
    )


def staging_server(spec: Mapping[str, Any], namespace: str) -> Mapping[str, str] | None:
    """Name and namespace of the staging server for an application in this namespace; None without one."""
    section = (spec.get("delivery") or {}).get("stagingServer")
    if section is None:
        return None
    return {"name": section.get("name", ""), "namespace": section.get("namespace") or namespace}


def delivered(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The spec, with paths in pods instead of the local entries that were pushed.

    Entries without an artifact stay as they are. Directories of `pyFiles` are left out, because they are on
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
    """The directories for PYTHONPATH: those of `pyFiles`, then the packages of `requirements`."""
    deps = spec.get("deps") or {}
    wanted = [(CODE, entry) for entry in deps.get("pyFiles") or ()]
    if REQUIREMENTS_FIELD in deps:
        wanted.append((DEPENDENCIES, deps[REQUIREMENTS_FIELD]))
    for artifact, entry in wanted:
        for path in _paths(spec, entry, artifact) or ():
            if path.endswith("/"):
                yield f"{contract.ARTIFACTS_DIR}/{artifact}/{path.rstrip('/')}"


def image_modules(properties: Mapping[str, str]) -> ImageModules:
    """The entries of `deps.pyFiles`, or of the property for it, that are in the image."""
    entries = [entry.strip() for entry in properties.get(PYTHON_FILES, "").split(",")]
    places = [found[1] if (found := IN_IMAGE.fullmatch(entry)) else "" for entry in entries]
    paths = [path for path in places if path]
    return ImageModules(
        tuple(path for path in paths if not path.endswith(".py")),
        tuple(path for path in paths if path.endswith(".py")),
        tuple(
            entry
            for entry, path in zip(entries, places, strict=True)
            if not path or entry.endswith(PYTHON_SUFFIXES)
        ),
    )


def _replaced(spec: Mapping[str, Any], entry: str, artifact: str, scheme: str) -> list[str]:
    known = _paths(spec, entry, artifact) is not None
    return _in_pods(spec, entry, artifact, scheme) if known else [entry]


def _in_pods(spec: Mapping[str, Any], entry: Any, artifact: str, scheme: str) -> list[str]:
    """The URIs of an entry for Spark in a pod; `#name` of an archive stays at the end."""
    _, mark, fragment = str(entry).partition("#")
    return [
        f"{scheme}://{contract.ARTIFACTS_DIR}/{artifact}/{path}{mark}{fragment}"
        for path in _paths(spec, entry, artifact) or ()
        if not path.endswith("/")
    ]


def _paths(spec: Mapping[str, Any], entry: Any, artifact: str) -> Sequence[str] | None:
    """The paths of an entry in an artifact, as the lock has them; None if no artifact has the entry."""
    local = is_local(entry) or (artifact == DEPENDENCIES and entry == _requirements(spec))
    for one in spec.get("artifacts") or ():
        if local and one["name"] == artifact and entry in one["files"]:
            paths: Sequence[str] = one["files"][entry]
            return paths
    return None


def _requirements(spec: Mapping[str, Any]) -> Any:
    return (spec.get("deps") or {}).get(REQUIREMENTS_FIELD)
