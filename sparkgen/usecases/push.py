"""Pushes local files of documents to a registry, and records them in lock files.

The plan comes first, and needs no network: files that have changed are packed, because their digests are
needed. Then the registry is asked for each artifact, and gets what it lacks. A lock is written when the
registry has all of its artifacts.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkgen import thread_map
from sparkgen.delivery import lock
from sparkgen.delivery.compare import Difference
from sparkgen.delivery.limits import bytes_text
from sparkgen.delivery.oci import Blob, Image, image, sha256
from sparkgen.delivery.pack import Layer, layer
from sparkgen.delivery.registry import credentials
from sparkgen.delivery.registry.client import Client, Target
from sparkgen.delivery.registry.errors import RegistryError
from sparkgen.delivery.registry.upload import Look, Repository
from sparkgen.delivery.source import source
from sparkgen.document.limits import MAX_FILE_BYTES
from sparkgen.document.locks import ARTIFACTS
from sparkgen.errors import SparkgenError
from sparkgen.model.delivery import ArtifactName
from sparkgen.semantics.local_entries import spec_of
from sparkgen.usecases import local_files
from sparkgen.writers import own_files

if TYPE_CHECKING:
    from sparkgen.delivery.requirements import Requirements
    from sparkgen.delivery.values import Contents, LocalFile
    from sparkgen.document import Document
    from sparkgen.usecases.inputs import Inputs

    Build = Callable[[Requirements], Sequence[LocalFile]]
    """Gives the files of an environment with these packages, for the folder `python/`."""

WORKERS = 4
_TAG = 128


@dataclass(frozen=True, slots=True)
class Packed:
    """An artifact of a document. `layer`, `image`: None if it was not packed; it is then as in the lock."""

    value: Mapping[str, Any]
    contents: Contents
    layer: Layer | None = None
    image: Image | None = None

    @property
    def name(self) -> ArtifactName:
        """The artifact's name: code or dependencies."""
        return self.contents.name

    @property
    def mounted(self) -> bool:
        """Whether a ConfigMap of the run contains the files: there is no registry to push them to."""
        return "contents" in self.value

    @property
    def digest(self) -> str:
        """The digest of the manifest."""
        return str(self.value.get("reference", "")).partition("@")[2]


@dataclass(frozen=True, slots=True)
class Plan:
    """The artifacts that a document should have.

    `stale`: why the lock is out of date, () if it is not; `left_out`: paths that are in no artifact;
    `target`: None without `delivery.repository`: the lock contains the files.
    """

    document: Document
    packed: tuple[Packed, ...]
    stale: tuple[Difference, ...]
    left_out: tuple[str, ...]
    target: Target | None

    @property
    def values(self) -> tuple[Mapping[str, Any], ...]:
        """The values for the document's `artifacts`."""
        return tuple(artifact.value for artifact in self.packed)


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of pushing an artifact. `sent`: the number of bytes that the registry lacked."""

    packed: Packed
    sent: int
    uploaded: bool


@dataclass(frozen=True, slots=True)
class Push:
    """How to push. `sent`: called with an artifact's name, the number of its uploaded bytes, and its size.

    `build`: returns the files of the packages of requirements. `verify`: whether everything that the registry
    has is downloaded and compared with its digest.
    """

    environment: Mapping[str, str]
    build: Build
    ca_file: str = ""
    sent: Callable[[str, int, int], None] = field(default=lambda _name, _done, _size: None)
    sleep: Callable[[float], None] = time.sleep
    verify: bool = False


def plan(document: Document, inputs: Inputs, push: Push, *, whole: bool = False) -> Plan:
    """Returns what must be pushed of a valid document. `whole`: pack files that have not changed, too."""
    looked = local_files.found(document, inputs)
    stale = tuple(local_files.stale(document, looked))
    fresh = {difference.artifact for difference in stale}
    packed = tuple(
        _packed(document, contents, push)
        if whole or contents.name in fresh
        else Packed(_known(document, contents.name), contents)
        for contents in looked.contents
    )
    return Plan(document, packed, stale, looked.left_out, _target(document, push))


def _known(document: Document, name: str) -> Mapping[str, Any]:
    known: Mapping[str, Any] = next(one for one in spec_of(document.value)[ARTIFACTS] if one["name"] == name)
    return known


def _packed(document: Document, contents: Contents, push: Push) -> Packed:
    repository = local_files.repository_of(document)
    if not repository:
        return Packed(local_files.mounted_artifact(contents), contents)
    files = list(contents.files)
    if contents.requirements is not None:
        files += push.build(contents.requirements)
    packed_layer = layer(files)
    its_image = image(packed_layer.blob)
    artifact = lock.Artifact(
        contents.name,
        {"reference": f"{repository}@{its_image.digest}"},
        packed_layer.blob.digest,
        packed_layer.blob.size,
        packed_layer.unpacked,
        source(contents),
        contents.entries,
    )
    return Packed(artifact.value(), contents, packed_layer, its_image)


def _target(document: Document, push: Push) -> Target | None:
    repository = local_files.repository_of(document)
    if not repository:
        return None
    delivery = spec_of(document.value)["delivery"]
    reached = delivery.get("pushRepository") or repository
    return Target(reached, bool(delivery.get("insecure")), push.ca_file)


def bring(plans: Sequence[Plan], inputs: Inputs, push: Push) -> list[Pushed]:
    """Upload what the registries lack, several artifacts at once. Raises the first SparkgenError, if any."""
    repositories: dict[Target, Repository] = {}
    for target in dict.fromkeys(one.target for one in plans if one.packed and one.target):
        repositories[target] = _repository(target, push)
    jobs = [(one, packed) for one in plans for packed in one.packed]

    def work(job: tuple[Plan, Packed]) -> Pushed:
        planned, packed = job
        if planned.target is None:
            return Pushed(packed, 0, uploaded=False)
        return _push(planned, packed, repositories[planned.target], inputs, push)

    return thread_map.results(work, jobs, WORKERS)


def _repository(target: Target, push: Push) -> Repository:
    environment = push.environment
    client = Client(target, lambda: credentials.find(target.repository, environment), push.sleep, environment)
    client.begin()
    return Repository(client)


def _push(planned: Plan, packed: Packed, repository: Repository, inputs: Inputs, push: Push) -> Pushed:
    """Upload what the registry lacks of an artifact, whether it is new or was lost."""
    blob = Blob(str(packed.value["digest"]), int(packed.value["size"]))
    its_image = packed.image or image(blob)
    known = its_image.digest == packed.digest and repository.blob(blob, verify=push.verify) == "right"
    if packed.layer is None and not known:
        packed = _packed_again(planned, packed, repository, inputs, push)
        its_image = packed.image or its_image

    def upload_layer() -> None:
        assert packed.layer is not None  # noqa: S101 - packed above
        _upload_layer(packed.layer, repository, lambda done: push.sent(packed.name, done, blob.size))

    def upload_config() -> None:
        with tempfile.TemporaryFile() as file:
            file.write(its_image.config)
            repository.upload(config, file, lambda _: None)

    config = Blob(sha256(its_image.config), len(its_image.config))
    manifest = Blob(its_image.digest, len(its_image.manifest))
    sent = 0 if known else _bring(repository, repository.blob, blob, upload_layer, push)
    sent += _bring(repository, repository.blob, config, upload_config, push)
    its_tag = tag(planned.document, packed)
    put = partial(repository.put_manifest, its_image.manifest, its_tag)
    brought = _bring(repository, repository.manifest, manifest, put, push)
    if not brought:
        _renew(put)
    sent += brought
    return Pushed(packed, sent, uploaded=bool(sent))


def _bring(repository: Repository, look: Look, blob: Blob, upload: Callable[[], None], push: Push) -> int:
    """Upload a blob that is missing or wrong. Returns the number of its bytes, 0 if it was right.

    Raises SparkgenError if the registry keeps the wrong bytes after an upload.
    """
    kept = look(blob, verify=push.verify)
    if kept == "right":
        return 0
    upload()
    if kept == "wrong" and look(blob, verify=True) != "right":
        raise SparkgenError(
            f"{repository.host} has other bytes under {blob.digest}, and keeps them after an upload: its "
            "storage is damaged; have its operator delete this blob there, and push again, or choose another "
            "`delivery.repository`"
        )
    return blob.size


def _renew(put: Callable[[], None]) -> None:
    """Put a manifest that is there once more: a garbage collection counts from its last push.

    It is there also if the registry refuses that, because tags are immutable, or who pushes may only pull.
    """
    with contextlib.suppress(RegistryError):
        put()


def _packed_again(
    planned: Plan, packed: Packed, repository: Repository, inputs: Inputs, push: Push
) -> Packed:
    """Pack an artifact again whose layer the registry has lost. Raises SparkgenError if its files changed."""
    whole = plan(planned.document, inputs, push, whole=True)
    again = next(candidate for candidate in whole.packed if candidate.name == packed.name)
    if again.digest != packed.digest:
        raise SparkgenError(
            f"{repository.host} no longer has {packed.digest}, and the files now give {again.digest}; delete "
            f"{local_files.lock_name(planned.document, inputs)} and push again"
        )
    return again


def _upload_layer(packed_layer: Layer, repository: Repository, sent: Callable[[int], None]) -> None:
    """Upload a layer from a temporary file, so that an interrupted upload can continue anywhere in it."""
    try:
        with tempfile.TemporaryFile() as file:
            for chunk in packed_layer.chunks():
                file.write(chunk)
            repository.upload(packed_layer.blob, file, sent)
    except OSError as error:
        raise SparkgenError(
            f"cannot write the layer to {tempfile.gettempdir()}: {error.strerror}; free some space, or "
            "set TMPDIR"
        ) from error


def tag(document: Document, packed: Packed) -> str:
    """Returns a manifest's tag: it shows the document in lists of tags. Pods use only the digest."""
    digest = packed.digest.removeprefix("sha256:")[:12]
    end = f"-{packed.name}-{digest}"
    return f"{document.owner[1][: _TAG - len(end)]}{end}"


# --- locks --------------------------------------------------------------------------------------------


def write_locks(plans: Sequence[Plan], inputs: Inputs) -> list[tuple[str, str]]:
    """Write the locks of all plans. Returns name and result (written, removed) of each lock that changed."""
    by_lock: dict[str, list[Plan]] = {}
    for plan in plans:
        if name := local_files.lock_name(plan.document, inputs):
            by_lock.setdefault(name, []).append(plan)
    results = ((name, _write_lock(name, some)) for name, some in by_lock.items())
    return [(name, became) for name, became in results if became]


def _write_lock(name: str, plans: Sequence[Plan]) -> str:
    parts = [lock.Part(*plan.document.owner, plan.values) for plan in plans]
    text = lock.text(os.path.basename(plans[0].document.source), parts)  # noqa: PTH119 - a name, not a path
    if (size := len(text.encode())) > MAX_FILE_BYTES:
        raise SparkgenError(
            f"{name} would have {bytes_text(size)}, more than {bytes_text(MAX_FILE_BYTES)}; add "
            "`delivery.repository: REGISTRY/NAME`, and push again; or put the files into the image"
        )
    path = Path(name)
    before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if text == before:
        return ""
    if not text:
        path.unlink()
        return "removed"
    own_files.write(path, text)
    return "written"
