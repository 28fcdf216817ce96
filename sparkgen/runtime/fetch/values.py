"""What is to be fetched, as values, and the two ways in which that goes wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sparkgen import contract
from sparkgen.codes import Code
from sparkgen.jsonvalue import decode
from sparkgen.runtime.exits import Refused

_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_REFERENCE = re.compile(
    r"((?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?)"
    r"/([a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)@(sha256:[0-9a-f]{64})"
)
MOST_ARTIFACTS = 8


class BadArtifact(Refused):
    """What no second try would fix: the container ends with `contract.BAD_ARTIFACT`."""

    def __init__(self, text: str, next_step: str = "") -> None:
        super().__init__(text, next_step, Code.BAD_ARTIFACT, contract.BAD_ARTIFACT)


class Passing(Exception):
    """What may go well a little later: a registry that is away, a cut connection.

    `pause`: seconds after which the registry asks to be asked again.
    """

    def __init__(self, text: str, pause: float = 0.0) -> None:
        super().__init__(text)
        self.pause = pause


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact: `host` and `repository` of its registry, digests as `sha256:` and 64 digits, bytes."""

    name: str
    host: str
    repository: str
    manifest: str
    digest: str
    size: int
    unpacked_size: int

    @property
    def reference(self) -> str:
        """As the document has it."""
        return f"{self.host}/{self.repository}@{self.manifest}"


def artifacts(environment: Mapping[str, str]) -> tuple[Artifact, ...]:
    """What the environment asks for. Refused for what no release of ours renders."""
    text = environment.get(contract.ENV_ARTIFACTS, "")
    try:
        found = decode(text)
        if not isinstance(found, list) or not 0 < len(found) <= MOST_ARTIFACTS:
            raise ValueError("it must be a list of artifacts")
        read = tuple(_artifact(one) for one in found)
    except (ValueError, KeyError, TypeError) as error:
        raise BadArtifact(
            f"{contract.ENV_ARTIFACTS} is invalid: {error}", "render the document again, and apply it"
        ) from None
    if len({one.name for one in read}) < len(read):
        raise BadArtifact(
            f"{contract.ENV_ARTIFACTS} names an artifact twice", "push again: sparkgen push FILE"
        )
    return read


def _artifact(given: Any) -> Artifact:
    name, digest, reference = (str(given[key]) for key in ("name", "digest", "reference"))
    parts = _REFERENCE.fullmatch(reference)
    if not _NAME.fullmatch(name) or not _DIGEST.fullmatch(digest) or parts is None:
        raise ValueError(f"an artifact has an invalid name, digest or reference: {reference[:200]}")
    _ = urlsplit(f"https://{parts[1]}").port  # a ValueError of its own for what only looks like an address
    sizes = [given["size"], given["unpackedSize"]]
    if not all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes):
        raise ValueError(f"the sizes of {name} must be numbers of bytes")
    return Artifact(name, parts[1], parts[2], parts[3], digest, *sizes)
