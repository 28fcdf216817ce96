"""An artifact's layer, into a file: what breaks off goes on where it was, and what is wrong is never kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO, Protocol, TypeVar

from sparkgen import contract
from sparkgen.codes import Code
from sparkgen.jsonvalue import decode
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.fetch.values import Artifact, BadArtifact, Passing

PATIENCE = 240.0
"""Seconds without anything new after which a registry counts as away."""
LONGEST = 3600.0
"""Seconds for one artifact, however much comes."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0

Result = TypeVar("Result")


class Source(Protocol):
    """A registry: `registry.Registry`."""

    def manifest(self, artifact: Artifact) -> bytes:
        """The manifest, as it was sent."""
        ...

    def layer(self, artifact: Artifact, start: int) -> AbstractContextManager[tuple[int, Iterator[bytes]]]:
        """The layer from a byte on."""
        ...


@dataclass(frozen=True, slots=True)
class Time:
    """What time it is, in seconds of one clock, and waiting. `random`: from 0 to 1, spreads pauses."""

    now: Callable[[], float]
    sleep: Callable[[float], None]
    random: Callable[[], float]


def download(
    source: Source, artifact: Artifact, file: BinaryIO, time: Time, say: Callable[[str], None]
) -> None:
    """Write the verified layer into an empty file. BadArtifact, or Refused when the registry stays away."""
    patience = _Patience(time, say)
    check_manifest(patience.asked(lambda: source.manifest(artifact)), artifact)
    progress = _Progress(file)
    patience.asked(lambda: _filled(source, artifact, progress, patience))
    if progress.digest != artifact.digest and progress.joined:
        progress.restart()  # parts of two answers: one whole answer decides
        patience.asked(lambda: _filled(source, artifact, progress, patience))
    if progress.digest != artifact.digest:
        raise BadArtifact(
            f"the layer of {artifact.name} is not what was pushed: its digest is {progress.digest}, but "
            f"{artifact.digest} in the lock",
            "push again: sparkgen push FILE; ask the registry's administrator what changed the artifact",
        )


def check_manifest(data: bytes, artifact: Artifact) -> None:
    """BadArtifact unless this is the manifest of the reference, and its one layer that of the lock."""
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != artifact.manifest:
        raise BadArtifact(
            f"the manifest of {artifact.reference} is not what was pushed: its digest is different",
            "push again: sparkgen push FILE; ask the registry's administrator what changed the artifact",
        )
    try:
        found = decode(data)
        (layer,) = found["layers"]
        said = (layer["mediaType"], layer["digest"], layer["size"])
    except (ValueError, KeyError, TypeError):
        raise BadArtifact(
            f"{artifact.reference} is not an image with one layer", "push again: sparkgen push FILE"
        ) from None
    if said[0] != contract.ARTIFACT_LAYER_TYPE:
        raise BadArtifact(
            f"the layer of {artifact.reference} has type {str(said[0])[:100]!r}, but must have "
            f"{contract.ARTIFACT_LAYER_TYPE}",
            "push with sparkgen push FILE",
        )
    if said[1:] != (artifact.digest, artifact.size):
        raise BadArtifact(
            f"the layer of {artifact.reference} is not the one in the lock",
            "push again: sparkgen push FILE",
        )


class _Progress:
    """What is in the file so far."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = 0
        self.joined = False
        """Whether it is made of parts of more than one answer."""
        self._hash = hashlib.sha256()

    @property
    def digest(self) -> str:
        return f"sha256:{self._hash.hexdigest()}"

    def restart(self) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.size, self.joined, self._hash = 0, False, hashlib.sha256()

    def add(self, chunk: bytes) -> None:
        self.file.write(chunk)
        self.size += len(chunk)
        self._hash.update(chunk)


def _filled(source: Source, artifact: Artifact, progress: _Progress, patience: _Patience) -> None:
    """Fill the file, from where it ends. Passing when that breaks off."""
    if progress.size == artifact.size:
        return
    with source.layer(artifact, progress.size) as (begins, chunks):
        if begins != progress.size:
            progress.restart()
        progress.joined = progress.size > 0
        for chunk in chunks:
            if progress.size + len(chunk) > artifact.size:
                raise BadArtifact(
                    f"the layer of {artifact.name} is larger than the {artifact.size} bytes in the lock",
                    "push again: sparkgen push FILE",
                )
            progress.add(chunk)
            patience.is_rewarded(progress.size)
    if progress.size < artifact.size:
        raise Passing(f"{artifact.host} closed the connection after {progress.size} of {artifact.size} bytes")


class _Patience:
    """Tries again after growing pauses, for as long as something new comes now and then."""

    def __init__(self, time: Time, say: Callable[[str], None]) -> None:
        self._time = time
        self._say = say
        self._began = self._last = time.now()
        self._pause = FIRST_PAUSE
        self._most = 0

    def asked(self, ask: Callable[[], Result]) -> Result:
        """What `ask` gives, however often it takes. Refused when nothing came for long."""
        while True:
            try:
                return ask()
            except Passing as error:
                self._wait(error)

    def is_rewarded(self, size: int) -> None:
        """More of the layer is there than ever: what is sent again is nothing new. Refused after LONGEST."""
        if self._time.now() - self._began > LONGEST:
            raise self._away(f"only {size} bytes of the layer arrived")
        if size > self._most:
            self._most, self._last, self._pause = size, self._time.now(), FIRST_PAUSE

    def _wait(self, error: Passing) -> None:
        now = self._time.now()
        if now - self._last > PATIENCE or now - self._began > LONGEST:
            raise self._away(f"{error} (for {now - self._last:.0f} s)")
        pause = max(error.pause, self._pause * (0.5 + self._time.random() / 2))
        self._pause = min(LONGEST_PAUSE, self._pause * 2)
        self._say(f"{error}; retrying in {pause:.1f} s")
        self._time.sleep(pause)

    def _away(self, text: str) -> Refused:
        return Refused(text, "check that the registry runs, and that pods can reach it", Code.REGISTRY_AWAY)
