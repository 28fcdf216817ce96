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
        spark_home.scala_line(tmp_path)
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "scala-library-2.13.18.jar").touch()
    assert spark_home.scala_line(tmp_path) == "2.13"


@pytest.mark.parametrize(
    ("said", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_452"', 8),
        ("no such command", 0),
    ],
)
def test_the_version_of_java_is_read(said: str, major: int) -> None:
    """Java 8 calls itself 1.8, and a first release has no dot."""
    assert spark_home.java_major(said) == major


def test_a_java_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message says where it was looked for, and which Java to install."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ToolError, match=f"no Java in JAVA_HOME={tmp_path}.*Install Java 17 or 21"):
        spark_home.java()
