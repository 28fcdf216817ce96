"""The table of Spark versions, and that nothing has a table of its own beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.images import TESTED_VERSIONS
from sparkgen import spark_versions
from sparkgen.spark_versions import COMPILED, JAVA, NEWEST, OLDEST, SUGGESTED, TESTED, scala_line

ROOT = Path(__file__).parents[2]


def numbers(version: str) -> list[int]:
    """What versions are ordered by."""
    return [int(part) for part in version.split(".")]


def test_the_table_is_in_order() -> None:
    """From the oldest to the newest, and no version twice: the first and the last have a meaning."""
    versions = [numbers(tested.version) for tested in TESTED]
    assert versions == sorted(versions)
    for field in ("version", "sha256"):
        assert len({getattr(tested, field) for tested in TESTED}) == len(TESTED)


@pytest.mark.parametrize("tested", TESTED, ids=[tested.version for tested in TESTED])
def test_a_line_is_whole(tested: spark_versions.SparkVersion) -> None:
    """A whole version, the Scala line that a document of that version gets, and a SHA-256."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", tested.version)
    assert re.fullmatch(r"[0-9a-f]{64}", tested.sha256)
    assert tested.scala == scala_line(tested.version)
    assert tested.line >= spark_versions.OLDEST_COMPILED


def test_both_ends_are_what_is_used() -> None:
    """Tests on a cluster have the oldest and the newest; each Scala line has its newest version."""
    assert TESTED_VERSIONS[1] == NEWEST.version
    assert SUGGESTED == OLDEST.version == TESTED[0].version
    assert COMPILED[NEWEST.scala] == NEWEST.version
    assert JAVA


def literals(file: Path) -> Iterator[str]:
    """The texts in a program, without docstrings, which may name a version as an example."""
    tree = ast.parse(file.read_text("utf-8"))
    examples = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in examples:
            yield node.value


@pytest.mark.parametrize("folder", ["sparkgen", "tools", "tests/e2e"])
def test_no_other_file_has_a_version_of_its_own(folder: str) -> None:
    """A text that is a tested version stands in the table alone; all else takes it from there."""
    versions = {tested.version for tested in TESTED} | {tested.sha256 for tested in TESTED}
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    named = {str(file.relative_to(ROOT)): versions.intersection(literals(file)) for file in files}
    named.pop("sparkgen/spark_versions.py", None)
    assert not {file: found for file, found in named.items() if found}


def test_how_to_add_one_names_every_file() -> None:
    """CONTRIBUTING lists the files that a new Spark touches, and they exist."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    text = page.partition("\n## A new Spark\n")[2].partition("\n## ")[0]
    named = re.findall(r"^\d\. `([^`]+)`", text, re.MULTILINE)
    assert named[0] == "sparkgen/spark_versions.py"
    assert all((ROOT / name).is_file() for name in named)
