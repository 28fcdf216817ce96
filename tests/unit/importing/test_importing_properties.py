"""Files of properties beside a script: java.util.Properties' syntax, and spark-submit's precedence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.errors import Position, Problem, Severity
from sparkgen.importing import Choices, Outcome, Result, import_all
from sparkgen.importing.properties import FileProperty, read_properties
from sparkgen.usecases.validate import examine

SUBMIT = "spark-submit --class a.B {} local:///a.jar\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spark.a 1", [("spark.a", "1", 1)]),
        (
            "spark.a=1\nspark.b: 2\nspark.c   =   3  ",
            [("spark.a", "1", 1), ("spark.b", "2", 2), ("spark.c", "3", 3)],
        ),
        ("# no\n! no\n\n  spark.a\tx y", [("spark.a", "x y", 4)]),
        ("spark.a = one \\\n   two\\\n three\nspark.b", [("spark.a", "one twothree", 1), ("spark.b", "", 4)]),
        ("spark.a=C:\\\\x\\ty\\u0041\\z", [("spark.a", "C:\\x\tyAz", 1)]),
        ("a\\ b\\=c=d", [("a b=c", "d", 1)]),
        ("spark.a=x\\\\\nspark.b=# no comment", [("spark.a", "x\\", 1), ("spark.b", "# no comment", 2)]),
        ("spark.a==1", [("spark.a", "=1", 1)]),
        (
            "spark.a=1\r\nspark.b=2\rspark.c=3",
            [("spark.a", "1", 1), ("spark.b", "2", 2), ("spark.c", "3", 3)],
        ),
    ],
)
def test_the_syntax_is_that_of_java(text: str, expected: list[tuple[str, str, int]]) -> None:
    """Separators, comments, continued lines and escapes; Spark strips values."""
    assert read_properties(text) == [FileProperty(*item) for item in expected]


def test_two_escapes_of_a_surrogate_pair_are_one_character() -> None:
    """As native2ascii writes an emoji, and Java reads it; a half without the other stays one."""
    (found,) = read_properties("spark.\\ud83d\\ude00=\\ud83d\\ude00b\\ud83d")
    assert (found.name, found.text) == ("spark.\U0001f600", "\U0001f600b\ud83d")


def imported(*names: str) -> Result:
    """What becomes of files."""
    choices = Choices(image="r/x:1", spark_version="3.5.8")
    return import_all(names, choices, examine, lambda: b"", lambda *_: True)


def only_spec(result: Result) -> dict[str, Any]:
    """The spec of the one document."""
    (item,) = result.imported
    spec: dict[str, Any] = yaml.safe_load(item.text)["spec"]
    return spec


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script below it, and two files of properties."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs" / "conf").mkdir(parents=True)
    (tmp_path / "jobs/conf/job.properties").write_text(
        "spark.executor.instances=3\nspark.executor.memory: 4g\nspark.my.a x\nother=1\nspark.my.b=file\n"
    )
    (tmp_path / "spark-defaults.conf").write_text("spark.my.default yes\n")
    return tmp_path


def test_a_file_that_the_command_names_is_read(folder: Path) -> None:
    """Beside the script; options win over --conf, and --conf over the file."""
    text = SUBMIT.format(
        "--conf spark.my.b=first --properties-file conf/job.properties "
        "--executor-memory 8g --conf spark.my.b=last"
    )
    (folder / "jobs/submit.sh").write_text(text)
    result = imported("jobs/submit.sh")
    spec = only_spec(result)
    assert spec["executor"] == {"instances": 3, "memory": "8g"}
    assert spec["sparkConf"] == {"spark.my.a": "x", "spark.my.b": "last"}
    (item,) = result.imported
    assert item.findings == ()
    (kept,) = [entry for entry in item.entries if entry.source[-1:] == ("spark.my.a",)]
    assert (str(kept.position), kept.outcome) == ("jobs/conf/job.properties:3:1", Outcome.CARRIED)


def test_defaults_are_for_commands_that_name_no_file(folder: Path) -> None:
    """As for spark-submit, which reads one of the two."""
    (folder / "jobs/submit.sh").write_text(SUBMIT.format(""))
    (folder / "jobs/named.sh").write_text(SUBMIT.format("--properties-file conf/job.properties"))
    assert only_spec(imported("jobs/submit.sh", "spark-defaults.conf"))["sparkConf"] == {
        "spark.my.default": "yes"
    }
    assert "spark.my.default" not in only_spec(imported("jobs/named.sh", "spark-defaults.conf"))["sparkConf"]
    every = imported(".")
    assert (len(every.imported), [left for left in every.left_alone if left.finding]) == (2, [])


def test_the_folder_of_configuration_that_a_command_sets_is_read(folder: Path) -> None:
    """Its spark-defaults.conf wins over the one among the inputs; a finding says that no other counts."""
    (folder / "jobs/conf/spark-defaults.conf").write_text("spark.my.folder yes\n")
    (folder / "jobs/submit.sh").write_text("SPARK_CONF_DIR=conf " + SUBMIT.format(""))
    result = imported("jobs/submit.sh", "spark-defaults.conf")
    assert only_spec(result)["sparkConf"] == {"spark.my.folder": "yes"}
    (item,) = result.imported
    assert [(entry.source, entry.reason) for entry in item.findings] == [
        (
            ("before spark-submit: SPARK_CONF_DIR",),
            "import has read spark-defaults.conf of this folder, and no other file of it",
        )
    ]
    (folder / "jobs/submit.sh").write_text("SPARK_CONF_DIR=/etc/spark " + SUBMIT.format(""))
    (item,) = imported("jobs/submit.sh").imported
    (found,) = item.findings
    assert found.reason == "it applies only to the submitting machine"


def test_an_empty_value_is_kept(folder: Path) -> None:
    """A variable may be empty, and is not absent then."""
    (folder / "jobs/submit.sh").write_text(
        SUBMIT.format("--conf spark.executorEnv.EMPTY= --conf spark.kubernetes.driverEnv.EMPTY=")
    )
    spec = only_spec(imported("jobs/submit.sh"))
    assert spec["sparkConf"] == {"spark.executorEnv.EMPTY": ""}
    assert spec["driver"] == {"env": [{"name": "EMPTY", "value": ""}]}


def test_a_claim_that_is_mounted_read_only_is_attached_so(folder: Path) -> None:
    """As Spark does; the role that writes to it attaches it for writing."""
    given = [
        f"--conf spark.kubernetes.{role}.volumes.persistentVolumeClaim.data.{key}"
        for role in ("driver", "executor")
        for key in ("mount.path=/data", "options.claimName=c")
    ]
    read_only = "--conf spark.kubernetes.executor.volumes.persistentVolumeClaim.data.mount.readOnly=true"
    (folder / "jobs/submit.sh").write_text(SUBMIT.format(" ".join([*given, read_only])))
    spec = only_spec(imported("jobs/submit.sh"))
    assert spec["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "data-executor", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}},
    ]
    assert spec["driver"]["volumeMounts"] == [{"name": "data", "mountPath": "/data"}]
    assert spec["executor"]["volumeMounts"] == [
        {"name": "data-executor", "mountPath": "/data", "readOnly": True}
    ]


def test_a_file_that_is_not_there_is_a_finding(folder: Path) -> None:
    """So is one on the machine that submitted, and one that no command reads."""
    for path in ("missing.conf", "/etc/spark/spark-defaults.conf", "$CONF/x.conf"):
        (folder / "jobs/submit.sh").write_text(SUBMIT.format(f"--properties-file {path}"))
        (item,) = imported("jobs/submit.sh").imported
        assert [(entry.outcome, entry.source) for entry in item.findings] == [
            (Outcome.LOST, ("--properties-file",))
        ]
    (left,) = imported("jobs/conf/job.properties").left_alone
    assert "names no application" in left.reason
    assert "--properties-file" in left.step


HIDDEN = "spark.hadoop.fs.s3a.endpoint=of-the-reader\n"


@pytest.mark.parametrize(
    "path",
    [
        *("../home/.config/s3.conf", "../home/s3.conf", ".config/s3.conf"),
        *("link.conf", "folder/s3.conf", "pipe.conf"),
    ],
)
def test_a_script_names_no_file_of_the_reader(
    folder: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's script would copy it into the document. A pipe would keep the command waiting."""
    for place in (folder / "home", folder / "home/.config", folder / "repository/.config"):
        place.mkdir(parents=True)
        (place / "s3.conf").write_text(HIDDEN)
    repository = folder / "repository"
    (repository / ".git").mkdir()
    (repository / "link.conf").symlink_to(folder / "home/s3.conf")
    (repository / "folder").symlink_to(folder / "home")
    os.mkfifo(repository / "pipe.conf")
    (repository / "submit.sh").write_text(SUBMIT.format(f"--properties-file {path}"))
    for here, script in ((folder, "repository/submit.sh"), (repository, "submit.sh")):
        monkeypatch.chdir(here)
        (item,) = imported(script).imported
        assert [entry.source for entry in item.findings] == [("--properties-file",)]
        assert "of-the-reader" not in item.text


@pytest.mark.parametrize("in_git", [True, False])
def test_a_script_names_files_of_its_project(folder: Path, in_git: bool) -> None:
    """Above the script's folder, and through a link within the project."""
    (folder / "conf").mkdir()
    (folder / "conf/real.conf").write_text("spark.my.a=x\n")
    (folder / "conf/job.conf").symlink_to("real.conf")
    if in_git:
        (folder / ".git").mkdir()
    (folder / "jobs/submit.sh").write_text(SUBMIT.format("--properties-file ../conf/job.conf"))
    assert only_spec(imported("jobs/submit.sh"))["sparkConf"] == {"spark.my.a": "x"}


def test_what_a_person_names_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command line is the caller's own word."""
    monkeypatch.chdir(folder / "jobs")
    result = imported("spark-submit", "--properties-file", "../spark-defaults.conf", "local:///a.py")
    assert only_spec(result)["sparkConf"] == {"spark.my.default": "yes"}


def test_half_of_a_surrogate_pair_is_lost_and_everything_else_stays(folder: Path) -> None:
    """YAML cannot have it; the name stays, and other invalid values are reported, too."""
    lines = (
        "spark.a=\\ud83d!",
        "spark.\\udc00=b",
        "spark.c=d",
        "spark.kubernetes.namespace=\\u202Eevil",
        "spark.kubernetes.container.image=\\udc00",
    )
    (folder / "half.conf").write_text("\n".join(lines))
    (folder / "job.sh").write_text(SUBMIT.format("--name etl --properties-file half.conf"))
    (item,) = imported("job.sh").imported
    document = yaml.safe_load(item.text)
    assert not item.problems
    assert document["metadata"] == {"name": "etl"}
    assert document["spec"]["sparkConf"] == {"spark.c": "d", "spark.app.name": "etl"}
    lost = {entry.position.line for entry in item.entries if entry.outcome is Outcome.LOST}
    assert lost == {1, 2, 4, 5}


def test_arguments_that_are_not_utf_8_are_lost() -> None:
    """Python reads their bytes as halves of surrogate pairs."""
    words = ["spark-submit", "--name", "\udcfe", "--class", "a.B", "local:///\udcff.jar", "a", "\udcff"]
    choices = Choices(image="r/x:1", spark_version="3.5.8")
    (item,) = import_all(words, choices, examine, lambda: b"", lambda *_: True).imported
    spec = yaml.safe_load(item.text)["spec"]
    assert not item.problems
    assert spec["arguments"] == ["a"]
    assert [entry.source for entry in item.entries if entry.outcome is Outcome.CHANGED] == [("main file",)]


def test_an_error_about_the_whole_document_changes_no_name(folder: Path) -> None:
    """No other value corrects it, so it is only reported."""
    (folder / "job.sh").write_text(SUBMIT.format("--name etl"))
    whole = Problem("SG002", Severity.ERROR, Position("", 1, 1), (), "wrong")
    (item,) = import_all(["job.sh"], Choices(), lambda _: [whole], bytes).imported
    assert (item.name, item.problems) == ("etl", (whole,))
