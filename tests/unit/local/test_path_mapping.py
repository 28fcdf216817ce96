"""Where this machine has what a document names by its place in the image."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from sparkgen.local.errors import CannotRun
from sparkgen.local.path_mapping import PathMapping, parse_maps

FIELD = "spec.mainApplicationFile"


@pytest.fixture
def places(tmp_path: Path) -> PathMapping:
    """A Spark with one example, a document with one script beside it, and a mapped folder."""
    for name in ("spark/examples/src/main/python/pi.py", "project/app.py", "src/etl/main.py", "src/etl.zip"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    maps = ((PurePosixPath("/opt/app"), tmp_path / "src"),)
    return PathMapping(tmp_path / "spark", tmp_path / "project", maps)


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("local:///opt/spark/examples/src/main/python/pi.py", "spark/examples/src/main/python/pi.py"),
        ("file:///opt/spark/examples/src/main/python/pi.py", "spark/examples/src/main/python/pi.py"),
        ("local:///opt/app/etl/main.py", "src/etl/main.py"),
        ("local:///opt/app/etl.zip#etl", "src/etl.zip#etl"),
        ("app.py", "project/app.py"),
        ("./app.py", "project/app.py"),
    ],
)
def test_a_file_of_the_image_is_found_here(places: PathMapping, tmp_path: Path, text: str, here: str) -> None:
    """Spark's own folder, a mapped one, and the document's, with or without a scheme."""
    assert places.file(text, FIELD) == str(tmp_path / here)


def test_a_file_of_the_machine_is_itself(places: PathMapping, tmp_path: Path) -> None:
    """A path that is here needs no mapping."""
    own = tmp_path / "src" / "etl" / "main.py"
    assert places.file(f"local://{own}", FIELD) == str(own)


@pytest.mark.parametrize("text", ["s3a://bucket/app.py", "https://example.org/app.jar", "hdfs:///app.jar"])
def test_a_url_of_elsewhere_stays(places: PathMapping, text: str) -> None:
    """Spark fetches it, as in a cluster."""
    assert places.file(text, FIELD) == text


def test_the_longest_mapping_wins(tmp_path: Path) -> None:
    """A folder in a mapped folder can be mapped otherwise, that of Spark too."""
    for name in ("a/x.py", "b/x.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    maps = parse_maps([f"/opt={tmp_path / 'a'}", f"local:///opt/spark/jobs={tmp_path / 'b'}"])
    places = PathMapping(tmp_path, tmp_path, maps)
    assert places.file("local:///opt/spark/jobs/x.py", FIELD) == str(tmp_path / "b/x.py")
    assert places.file("local:///opt/x.py", FIELD) == str(tmp_path / "a/x.py")


def test_a_missing_file_says_which_mapping_to_write(places: PathMapping, tmp_path: Path) -> None:
    """Where a file of that name lies beside the document, its folder is proposed."""
    with pytest.raises(CannotRun, match="--map /srv/jobs=FOLDER"):
        places.file("local:///srv/jobs/main.py", FIELD)
    with pytest.raises(CannotRun, match=f"--map /srv/jobs={tmp_path}/project"):
        places.file("local:///srv/jobs/app.py", FIELD)
    with pytest.raises(CannotRun, match="paths are relative to the document's folder"):
        places.file("other.py", FIELD)


def test_missing_examples_are_explained(places: PathMapping) -> None:
    """PyPI's pyspark has no jar of examples, which is nobody's mistake."""
    with pytest.raises(CannotRun, match="set SPARK_HOME to a full release"):
        places.file("local:///opt/spark/examples/jars/spark-examples_2.12-3.5.8.jar", FIELD)


def test_the_jar_of_examples_is_made_when_it_can_be(tmp_path: Path) -> None:
    """It is asked for only where the local Spark has none."""
    jar = tmp_path / "made.jar"
    places = PathMapping(tmp_path, tmp_path, examples_jar=lambda: jar)
    text = "local:///opt/spark/examples/jars/spark-examples_2.12-3.5.8.jar"
    assert places.file(text, FIELD) == str(jar)
    assert places.file("local:///opt/spark/examples/jars/spark-examples.jar", FIELD) == str(jar)


def test_arguments_are_translated_only_where_that_helps(places: PathMapping, tmp_path: Path) -> None:
    """An argument may be any text: it is touched when it is a path of the image whose file is here."""
    pi = "/opt/spark/examples/src/main/python/pi.py"
    here = str(tmp_path / "spark" / "examples/src/main/python/pi.py")
    assert places.argument(pi) == here
    assert places.argument(f"file://{pi}") == f"file://{here}"
    for text in ("100", "/no/such/file", "s3a://bucket/x", "--input=/opt/app/etl", "/opt/app/none"):
        assert places.argument(text) == text
    assert places.path_list("/opt/app/etl:/opt/lib/*") == f"{tmp_path / 'src/etl'}:/opt/lib/*"


@pytest.mark.parametrize("text", ["/opt/app", "app=src", "/opt/app=", "/opt/app=/no/such/folder"])
def test_a_bad_mapping_is_refused(text: str) -> None:
    """The message shows what was written."""
    with pytest.raises(CannotRun, match=f"--map {text}"):
        parse_maps([text])


def test_a_file_of_a_mapped_folder(tmp_path: Path) -> None:
    """Where `--map` names a folder of the pod: the file there, and no other one."""
    (tmp_path / "hive-site.xml").write_text("x")
    (tmp_path / "folder").mkdir()
    places = PathMapping(tmp_path, tmp_path, ((PurePosixPath("/opt/sparkgen/conf"), tmp_path),))
    assert places.mapped("/opt/sparkgen/conf/hive-site.xml") == tmp_path / "hive-site.xml"
    assert places.mapped("/opt/sparkgen/conf/core-site.xml") is None
    assert places.mapped("/opt/sparkgen/conf/folder") is None
    assert places.mapped("/etc/passwd") is None
