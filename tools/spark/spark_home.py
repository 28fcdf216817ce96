"""Releases of Spark for tests and builds on this machine: those that `sparkgen run --local` fetches.

The module is not called pyspark: tools/ is on the path of the tests, and must not hide the library.
"""

from __future__ import annotations

from pathlib import Path

from common import progress
from common.cachedir import ToolError, environment
from sparkgen.local import spark
from sparkgen.local.java import find as find_java
from sparkgen.local.spark import Spark

LAYOUT = spark.LAYOUT
"""Where a folder of PyPI's source package is in a release of Spark."""


def ensure(version: str) -> Path:
    """The SPARK_HOME of `version` ("4.3.0"); ToolError when PyPI or the disk does not give it."""
    return spark.fetched(version, environment(), progress.Steps())


def release(home: Path) -> Spark:
    """The release of Spark in a folder; ToolError when there is none."""
    if found := spark.inspect(home, str(home)):
        return found
    raise ToolError(f"there is no Spark in {home}: name the folder of a Spark release.")


def java() -> Path:
    """The Java that Spark starts, of JAVA_HOME or else of the PATH; ToolError when none fits."""
    return find_java(environment()).command
