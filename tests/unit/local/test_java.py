"""Which Java runs Spark here."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkgen.local.errors import CannotRun
from sparkgen.local.java import Java, find, parse


def _pretend(folder: Path, version: str) -> Path:
    """A java that says that it is of this version."""
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(
        f"#!/bin/sh\nprintf '    java.home = {folder}\\n    java.specification.version = {version}\\n' >&2\n"
    )
    command.chmod(0o755)
    return folder


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    """As Spark's own scripts look for it."""
    home, other = _pretend(tmp_path / "a", "17"), _pretend(tmp_path / "b", "21")
    found = find({"JAVA_HOME": str(home), "PATH": f"{other}/bin:/bin"})
    assert found == Java(home, 17, f"JAVA_HOME ({home})")


def test_a_java_that_spark_cannot_use_is_passed_over(tmp_path: Path) -> None:
    """JAVA_HOME may name the Java of something else."""
    old, good = _pretend(tmp_path / "a", "1.8"), _pretend(tmp_path / "b", "21")
    assert find({"JAVA_HOME": str(old), "PATH": f"{good}/bin:/bin"}).home == good


def test_without_a_java_the_message_says_what_to_install(tmp_path: Path) -> None:
    """What was found, and why it does not do."""
    with pytest.raises(CannotRun, match=r"Spark needs Java 17 or 21, and there is none: .*openjdk-17"):
        find({"PATH": str(tmp_path)})
    new = _pretend(tmp_path / "new", "25")
    with pytest.raises(CannotRun, match=r"is Java 25; JAVA_HOME .*|JAVA_HOME .* is Java 25; install"):
        find({"JAVA_HOME": str(new), "PATH": str(tmp_path)})
    with pytest.raises(CannotRun, match="does not run"):
        find({"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(tmp_path)})


def test_settings_are_read_from_any_release() -> None:
    """Java 8 calls itself 1.8; a java that prints nothing of the kind is none."""
    text = "Property settings:\n    java.home = /opt/a b\n    java.specification.version = 1.8\n"
    assert parse(text, "here") == Java(Path("/opt/a b"), 8, "here")
    assert parse("Unable to locate a Java Runtime.", "here") is None
