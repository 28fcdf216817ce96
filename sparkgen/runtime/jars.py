"""The scheduler jars of the runtime image: one for each Scala line."""

from __future__ import annotations

from pathlib import Path

from sparkgen import contract

JARS = Path(contract.RUNTIME_JARS)
"""Where the runtime image has them."""
_PREFIX = contract.RUNTIME_JAR_PREFIX


def jar_path(line: str, jars: Path) -> Path:
    """The jar of a Scala line ("2.13"), whether or not it is there."""
    return jars / f"{_PREFIX}{line}.jar"


def lines(jars: Path) -> list[str]:
    """The Scala lines that there is a jar of, sorted."""
    return sorted(path.stem.removeprefix(_PREFIX) for path in jars.glob(f"{_PREFIX}*.jar"))
