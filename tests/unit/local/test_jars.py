"""The jars that are compiled on this machine: what goes in, and that nothing else decides the bytes."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from sparkgen.local import jars
from sparkgen.local.errors import CannotRun
from sparkgen.local.scala import write_jar


def test_the_bytes_of_a_jar_follow_from_its_content(tmp_path: Path) -> None:
    """Order and time of writing do not show; every entry is there, the manifest first."""
    content = {"b/B.class": b"2", "a/A.class": b"1"}
    write_jar(tmp_path / "one.jar", content)
    write_jar(tmp_path / "two.jar", dict(reversed(content.items())))
    assert (tmp_path / "one.jar").read_bytes() == (tmp_path / "two.jar").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.jar") as jar:
        assert jar.namelist() == ["META-INF/MANIFEST.MF", "a/A.class", "b/B.class"]


def test_the_sources_are_scala_and_the_service_that_spark_looks_for() -> None:
    """The file by which Spark finds the scheduler names a class that is among the sources."""
    folder = jars._first(jars.SCHEDULER)
    service = jars.resources(folder / "resources")[
        "META-INF/services/org.apache.spark.scheduler.ExternalClusterManager"
    ].decode()
    package, _, name = service.strip().rpartition(".")
    assert f"package {package}" in (folder / "src" / f"{name}.scala").read_text()


def test_the_wheel_carries_the_sources() -> None:
    """Where this module looks for them is where pyproject.toml puts them."""
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    for place in (jars.SCHEDULER[0] / "src", jars.SCHEDULER[0] / "resources", jars.EXAMPLES[0]):
        assert f"sparkgen/{place.relative_to(jars.PACKAGE)}" in text


def test_an_installation_without_sources_is_told(tmp_path: Path) -> None:
    """The next step is to install it again."""
    with pytest.raises(CannotRun, match="not fully installed"):
        jars._first((tmp_path / "a", tmp_path / "b"))
