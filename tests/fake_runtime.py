"""A runtime of a few bytes for tests: the real one takes a compiler, and two releases of Spark."""

from __future__ import annotations

from pathlib import Path

from sparkgen.image.runtime_files import FOLDER, RuntimeFiles, jar_name

SMALL = Path(__file__).parent / "small_runtime"
VARIABLE = FOLDER
"""What has commands take it, in this process and in others."""


def small(line: str) -> RuntimeFiles:
    """What stands for the runtime of a Scala line."""
    return RuntimeFiles(line, (SMALL / "runtime.pyz").read_bytes(), (SMALL / jar_name(line)).read_bytes())
