"""The build of the scheduler jar: for which Scala line, with which Spark and Java."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.cachedir import ToolError
from spark import scheduler, spark_home


def test_an_unknown_scala_line_is_named() -> None:
    """The message lists the lines there are."""
    with pytest.raises(ToolError, match=r"no Scala line '3\.3' here; there are: 2\.12, 2\.13"):
        scheduler.ensure("3.3")


def test_a_folder_without_spark_is_named(tmp_path: Path) -> None:
    """The Scala line is read from the jars, and their absence is told."""
    with pytest.raises(ToolError, match="name the folder of a Spark release"):
        spark_home.release(tmp_path)
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-4.0.1.jar").touch()
    found = spark_home.release(tmp_path)
    assert (found.scala, found.version) == ("2.13", "4.0.1")


def test_a_java_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message says where it was looked for, and which Java to install."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    where = rf"JAVA_HOME \({tmp_path}\)"
    with pytest.raises(ToolError, match=f"needs Java 17 or 21, and {where} does not run; install"):
        spark_home.java()
