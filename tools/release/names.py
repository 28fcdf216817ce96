"""The names of the project's public home, from release.toml.

python -m release.names prints them as NAME=VALUE, for a workflow; 1 if one of them is still to be filled in.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from common.cachedir import ToolError
from common.command import tells_errors

FILE = Path(__file__).resolve().parents[2] / "release.toml"
PLACEHOLDER = "OWNER"
"""Whoever owns the public home; a name with this word in it is still to be filled in."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names in release.toml, which says what each one is."""

    repository: str
    registry: str
    index: str
    issuer: str
    security: str

    @property
    def image(self) -> str:
        """The runtime image, without a tag."""
        return f"{self.registry}/sparkgen-runtime"

    @property
    def chart(self) -> str:
        """The chart, without a tag."""
        return f"{self.registry}/charts/spark-app"

    def identity(self, version: str) -> str:
        """Who signs a release: the workflow, at the tag of the version."""
        return f"{self.repository}/.github/workflows/release.yml@refs/tags/v{version}"

    def missing(self) -> list[str]:
        """The fields that are still to be filled in."""
        return [one.name for one in fields(self) if PLACEHOLDER in getattr(self, one.name)]


def read(file: Path = FILE) -> Names:
    """The names in a file. Raises ToolError if it does not have exactly these."""
    found = tomllib.loads(file.read_text("utf-8"))
    wanted = {one.name for one in fields(Names)}
    if found.keys() != wanted or not all(isinstance(value, str) for value in found.values()):
        raise ToolError(f"{file} must have these strings: {', '.join(sorted(wanted))}")
    return Names(**found)


@tells_errors
def main() -> int:
    """Print the names. Raises ToolError, which becomes 1, while there is no public home."""
    names = read()
    if missing := names.missing():
        raise ToolError(
            f"{FILE.name} has no public home yet: replace {PLACEHOLDER} in {', '.join(missing)}, "
            "then run the tests, which list the pages that name it"
        )
    for one in fields(names):
        print(f"{one.name}={getattr(names, one.name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
