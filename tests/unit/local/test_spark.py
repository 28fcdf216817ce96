"""The Spark of a document's version: found, laid out, checked."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sparkgen.local import spark
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import megabytes, run, tail
from sparkgen.spark_versions import ARCHIVES


class Told:
    """A Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Keep the title."""
        self.lines.append(title)
        yield lambda _: None

    def say(self, text: str) -> None:
        """Keep the text."""
        self.lines.append(text)


def _home(folder: Path, version: str, scala: str) -> Path:
    (folder / "jars").mkdir(parents=True)
    (folder / "jars" / f"spark-core_{scala}-{version}.jar").touch()
    return folder


def test_spark_home_is_used_when_it_fits(tmp_path: Path) -> None:
    """Version and Scala line are in the name of a jar; nothing is fetched."""
    home = _home(tmp_path / "spark", "3.5.8", "2.13")
    found = spark.find("3.5.8", "2.13", {"SPARK_HOME": str(home)}, Told())
    assert found == spark.Spark(home, "3.5.8", "2.13", f"SPARK_HOME ({home})")


def _cached(cache: Path, version: str, scala: str) -> Path:
    name = f"{version}-{spark.key(str(spark.LAYOUT))}"
    return _home(cache / "spark" / name, version, scala)


def test_a_spark_home_of_another_version_is_left_aside_and_that_is_said(tmp_path: Path) -> None:
    """The document's version comes from the cache."""
    home, told = _home(tmp_path / "spark", "3.4.4", "2.12"), Told()
    cached = _cached(tmp_path / "cache", "3.5.8", "2.12")
    variables = {"SPARK_HOME": str(home), "SPARKGEN_CACHE": str(tmp_path / "cache")}
    assert spark.find("3.5.8", "2.12", variables, told).home == cached
    assert told.lines == [
        "SPARK_HOME is Spark 3.4.4 for Scala 2.12, but the document needs 3.5.8 for 2.12: it is not used"
    ]


def test_a_scala_line_that_pypi_has_not_is_told(tmp_path: Path) -> None:
    """There is a way: a release of Spark of one's own."""
    _cached(tmp_path, "3.5.8", "2.12")
    with pytest.raises(CannotRun, match=r"spec\.scalaVersion is 2\.13.*set SPARK_HOME"):
        spark.find("3.5.8", "2.13", {"SPARKGEN_CACHE": str(tmp_path)}, Told())


def test_the_package_is_laid_out_as_a_release(tmp_path: Path) -> None:
    """So that paths of the stock images lead to files; the scripts can be run."""
    source, target = tmp_path / "package", tmp_path / "home"
    for name in (
        "deps/bin/spark-submit",
        "deps/jars/a.jar",
        "deps/examples/pi.py",
        "pyspark/x.py",
        "lib/py4j-1.zip",
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch(mode=0o644)
    target.mkdir()
    spark.lay_out(source, target)
    assert (target / "bin" / "spark-submit").stat().st_mode & 0o111
    assert (target / "examples/src/main/python/pi.py").is_file()
    made = spark.Spark(target, "1", "2.12", "here")
    assert made.python_path == f"{target}/python:{target}/python/lib/py4j-1.zip"


def test_another_archive_than_the_tested_one_is_refused(tmp_path: Path) -> None:
    """Both sums are told; versions without a known sum are left to pip's own check."""
    archive = tmp_path / "pyspark-3.5.8.tar.gz"
    tarfile.open(archive, "w:gz").close()
    with pytest.raises(CannotRun, match=r"has the SHA-256 [0-9a-f]{64}, but Spark 3\.5\.8 has [0-9a-f]{64}"):
        spark.check(archive, "3.5.8")
    spark.check(archive, "1.2.3")


def test_a_command_that_fails_is_told_with_its_last_lines() -> None:
    """And one that cannot be started, with why."""
    told = Told()
    assert run(told, "saying a", ["echo", "a"]) == "a\n"
    with pytest.raises(CannotRun, match=r"(?s)trying: failed with 3\n  first\n  second$"):
        run(told, "trying", ["sh", "-c", "echo first; echo; echo second >&2; exit 3"])
    with pytest.raises(CannotRun, match="cannot start /no/such/program: No such file"):
        run(told, "trying", ["/no/such/program"])
    assert told.lines == ["saying a", "trying", "trying"]


def test_sizes_and_tails(tmp_path: Path) -> None:
    """Megabytes of all files below a folder; the last lines that say something."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 1_500_000)
    assert megabytes(tmp_path) == 1.5
    assert tail("a\n\nb\nc\n", 2) == "  b\n  c"


EVIL = """import os, pathlib
pathlib.Path(os.environ["PROOF"]).write_text("ran")
def get_requires_for_build_wheel(config_settings=None):
    return []
def build_wheel(*arguments, **options):
    raise SystemExit(1)
"""


def _index_with_another_package(folder: Path, version: str) -> Path:
    """A folder that pip takes for an index, with a package that runs code when it is looked at."""
    source = folder / f"pyspark-{version}"
    source.mkdir(parents=True)
    (source / "evil.py").write_text(EVIL)
    (source / "PKG-INFO").write_text(f"Metadata-Version: 2.1\nName: pyspark\nVersion: {version}\n")
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
    )
    with tarfile.open(folder / f"pyspark-{version}.tar.gz", "w:gz") as archive:
        archive.add(source, source.name)
    return folder


@pytest.mark.parametrize("version", ARCHIVES)
def test_no_code_of_another_package_runs(tmp_path: Path, version: str) -> None:
    """Pip runs a source package's build backend when it downloads it: the hash is compared before that."""
    proof = tmp_path / "proof"
    variables = {
        "PATH": "/usr/bin:/bin",
        "SPARKGEN_CACHE": str(tmp_path / "cache"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(_index_with_another_package(tmp_path / "index", version)),
        "PROOF": str(proof),
    }
    with pytest.raises(CannotRun, match="differs from what PyPI published"):
        spark.fetched(version, variables, Told())
    assert not proof.exists(), "its code was run"


def test_a_folder_that_goes_away_while_it_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pip makes and removes folders all the time: the rest still counts, and the download goes on."""
    for name in ("stays", "gone"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * 500_000)
    scandir = os.scandir

    def vanishing(path: str) -> object:
        if Path(path).name == "gone":
            raise FileNotFoundError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert megabytes(tmp_path) == 0.5
