"""The libraries of the runtime image with exact versions, and hashes that are checked before use."""

from __future__ import annotations

import platform
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pin:
    """A wheel on PyPI for all platforms, with the SHA-256 of its file."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        """The line for a requirements file: pip checks the hash before it opens the wheel."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


LIBRARIES = (
    Pin("urllib3", "2.8.0", "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"),
    Pin("h2", "4.4.1", "0e25f1462b23c9cb82d9eb02e28bc706dac2a68cb457c6a0d74d63c8a2a5d0e6"),
    Pin("hpack", "4.2.0", "858ac0b02280fa582b5080d68db0899c62a80375e0e5413a74970c5e518b6986"),
    Pin("hyperframe", "6.1.0", "b03380493a519fce58ea5af42e4a42317bf9bd425596f7a0835ffce80f1a42e5"),
)
"""pyproject.toml's extra `runtime` has the same versions; a test compares them."""

PLATFORMS = ("linux/amd64", "linux/arm64")


def machine_architecture() -> str:
    """The architecture of this machine, as images name it."""
    machine = platform.machine()
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
