"""The versions of Spark that sparkgen is tested with: all else that names them follows from this table.

A new Spark is a new line, and what CONTRIBUTING ("A new Spark") lists.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SparkVersion:
    """A version of Spark, and what differs from one to the other.

    `scala`: the Scala line that PyPI's package is built for. `sha256`: of that package's source archive.
    `java`: the versions of Java that run it, of those with long support.
    """

    version: str
    scala: str
    sha256: str
    java: tuple[int, ...] = (17, 21)

    @property
    def line(self) -> tuple[int, int]:
        """(3, 5) of 3.5.8."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)


TESTED = (
    SparkVersion("3.5.8", "2.12", "54cca0767b21b40e3953ad1d30f8601c53abf9cbda763653289cdcfcac52313c"),
    SparkVersion("4.3.0", "2.13", "e8c517948eff7088a7aa07449aa8eafa4a15a8d50319de2525a6fd26622476c6"),
)
"""From the oldest to the newest. The end-to-end tests run on the first and the last."""

OLDEST, NEWEST = TESTED[0], TESTED[-1]

SUGGESTED = OLDEST.version
"""What `init` and `import` write where nothing says another."""

COMPILED = {tested.scala: tested.version for tested in TESTED}
"""Scala line -> the newest version for it: the scheduler jar of the line is compiled against it."""

ARCHIVES = {tested.version: tested.sha256 for tested in TESTED}
"""SHA-256 of the source archives; pip compares those of other versions with what PyPI says."""

JAVA = tuple(sorted(set.intersection(*(set(tested.java) for tested in TESTED))))
"""The versions of Java that every one runs on."""

OLDEST_COMPILED = (3, 4)
"""The oldest line that the scheduler's source compiles for, whether a test runs on it or not."""


def scala_line(version: str) -> str:
    """The Scala line of a Spark version: 3.x is published for 2.12 first, 4.x for 2.13 only."""
    return "2.12" if version.startswith("3.") else "2.13"
