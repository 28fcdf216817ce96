"""`sparkgen-runtime fetch`: every artifact of the document, verified and unpacked, or one reason why not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sparkgen import contract
from sparkgen.runtime.contract_check import check_contract
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.fetch import archive
from sparkgen.runtime.fetch.cache import Cache
from sparkgen.runtime.fetch.credentials import LARGEST_CONFIG, credentials_for
from sparkgen.runtime.fetch.download import Source, Time, download
from sparkgen.runtime.fetch.registry import Access, Registry
from sparkgen.runtime.fetch.values import Artifact, artifacts
from sparkgen.runtime.files import replace_file
from sparkgen.runtime.registry.credentials import Credentials

_READABLE = 0o644


@dataclass(frozen=True, slots=True)
class Places:
    """Where the pod's volumes are mounted."""

    artifacts: Path = Path(contract.ARTIFACTS_DIR)
    cache: Path = Path(contract.ARTIFACTS_CACHE_DIR)
    config: Path = Path(contract.REGISTRY_DIR, contract.REGISTRY_FILE)
    ca: Path = Path(contract.REGISTRY_CA_DIR, contract.REGISTRY_CA_FILE)


def fetch(
    environment: Mapping[str, str],
    time: Time,
    wall: Callable[[], float],
    say: Callable[[str], None],
    places: Places | None = None,
) -> None:
    """Have every artifact in its folder. Refused, or BadArtifact, when one cannot be had.

    `say`: what is done, a line each.
    """
    check_contract(environment)
    places = places or Places()
    wanted = artifacts(environment)
    registry = Registry(_access(environment, wanted, places))
    cache = Cache(places.cache, time, wall, say) if places.cache.is_dir() else None
    try:
        for artifact in wanted:
            try:
                _have(artifact, registry, cache, time, say, places.artifacts)
            except OSError as error:
                raise Refused(f"cannot write {artifact.name}: {error}") from None
    finally:
        registry.close()


def _access(environment: Mapping[str, str], wanted: tuple[Artifact, ...], places: Places) -> Access:
    found: dict[str, Credentials] = {}
    if places.config.is_file():
        config = _read(places.config)
        for artifact in wanted:
            if (known := credentials_for(config, artifact.host, artifact.repository)) is not None:
                found[artifact.reference] = known
    return Access(
        insecure=environment.get(contract.ENV_ARTIFACTS_INSECURE) == "true",
        ca_file=places.ca if places.ca.is_file() else None,
        credentials=found,
    )


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(LARGEST_CONFIG).decode("utf-8", "replace")


def _have(
    artifact: Artifact,
    source: Source,
    cache: Cache | None,
    time: Time,
    say: Callable[[str], None],
    root: Path,
) -> None:
    """An artifact in its folder: that of an earlier try of this container, or a new one.

    A folder counts once its mark is there, which is written last: what an earlier try left half done is
    removed.
    """
    folder, mark = root / artifact.name, root / f".{artifact.name}.digest"
    if folder.is_dir() and mark.is_file() and mark.read_text("utf-8") == artifact.digest:
        say(f"{artifact.name}: already unpacked")
        return
    draft, blob = root / f".{artifact.name}.new", root / f".{artifact.name}.tar"
    for left in (mark, blob):
        left.unlink(missing_ok=True)
    for left in (folder, draft):
        _remove(left)
    began = time.now()
    try:
        with _new_file(blob) as file:
            _layer(artifact, source, cache, file, time, say)
            file.seek(0)
            draft.mkdir(archive.FOLDER_MODE)
            draft.chmod(archive.FOLDER_MODE)
            count = archive.unpack(file, draft, artifact.unpacked_size)
        draft.rename(folder)
        replace_file(mark, artifact.digest, _READABLE)
    finally:
        with suppress(OSError):
            blob.unlink(missing_ok=True)
        _remove(draft)
    say(f"{artifact.name}: {count} files, {artifact.size} bytes, {time.now() - began:.1f} s")


def _layer(
    artifact: Artifact,
    source: Source,
    cache: Cache | None,
    file: BinaryIO,
    time: Time,
    say: Callable[[str], None],
) -> None:
    """The verified layer in an empty file: the node's, or one that is downloaded, for the others as well."""
    if cache is None:
        download(source, artifact, file, time, say)
        return
    if cache.take(artifact, file):
        say(f"{artifact.name}: taken from the node's cache")
        return
    with cache.alone(artifact):
        if cache.take(artifact, file):
            say(f"{artifact.name}: taken from the node's cache")
            return
        download(source, artifact, file, time, say)
        cache.put(artifact, file)


def _new_file(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w+b")


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
