"""What the runtime image is made of beside sparkgen itself: exact, and compared before it is used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pin:
    """A wheel of PyPI for every platform, with the SHA-256 of its file."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        """A line of a requirements file: pip compares the hash before it opens the file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


LIBRARIES = (Pin("urllib3", "2.8.0", "0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3"),)
"""pyproject.toml's extra `runtime` has the same versions; a test compares them."""

PLATFORMS = ("linux/amd64", "linux/arm64")
