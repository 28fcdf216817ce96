"""Files of a Git repository that a script names: import shows only those that Git has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from sparkgen.importing import Choices, Result, import_all, inputs
from sparkgen.usecases import git_files
from sparkgen.usecases.validate import examine

MARK = "of-the-reader"
PROPERTIES = f"spark.hadoop.fs.s3a.endpoint={MARK}\n"
TEMPLATE = f"spec: {{nodeSelector: {{zone: {MARK}}}}}\n"
SUBMIT = {"entryPoint": "s3a://bucket/app.py", "entryPointArguments": [MARK]}
FILES = {
    "job.properties": (PROPERTIES, "spark-submit --properties-file job.properties local:///a.py"),
    "spark-defaults.conf": (PROPERTIES, "SPARK_CONF_DIR=. spark-submit local:///a.py"),
    "pod.yaml": (
        TEMPLATE,
        "spark-submit --conf spark.kubernetes.driver.podTemplateFile=pod.yaml local:///a.py",
    ),
    "job.json": (
        json.dumps({"sparkSubmitJobDriver": SUBMIT}),
        "aws emr-containers start-job-run --name x --job-driver file://job.json",
    ),
}
"""Text of a file, and a command that names it."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    return tmp_path


def git(*arguments: str) -> None:
    """Run git."""
    subprocess.run(["git", *arguments], check=True)


def imported(*sources: str) -> Result:
    """What becomes of the script, as `sparkgen import` reads it."""
    choices = Choices(image="r/x:1", spark_version="3.5.8")
    return import_all(sources or ["run.sh"], choices, examine, lambda: b"", git_files.has)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", ["tracked", "ignored", "untracked", "link", "nested"])
def test_a_script_names_files_that_git_has(repository: Path, name: str, place: str) -> None:
    """Somebody else may have written the script; what Git does not have is the reader's own."""
    text, command = FILES[name]
    (repository / "run.sh").write_text(f"{command}\n")
    file = repository / name
    if place == "link":  # the link is in Git, what it leads to is not
        (repository / "own").write_text(text)
        file.symlink_to("own")
    elif place == "nested":  # in a repository of its own, which somebody put below this one
        git("init", "--quiet", "below")
        (repository / "below" / name).write_text(text)
        git("-C", "below", "add", name)
        file.symlink_to(f"below/{name}")
    else:
        file.write_text(text)
    (repository / ".gitignore").write_text(f"{name}\n" if place == "ignored" else "")
    git("add", "run.sh", *([name] if place in ("tracked", "link", "nested") else ()))
    result = imported()
    shown = any(MARK in item.text for item in result.imported)
    assert shown == (place == "tracked")
    assert (MARK in repr(result)) == shown
    assert shown or any(item.findings for item in result.imported) or result.left_alone


def test_a_file_that_looks_like_a_secret_must_be_as_git_has_it(repository: Path) -> None:
    """Somebody may have put a real secret in the place of a sample."""
    named, plain = repository / "prod.keystore", repository / "job.properties"
    for file in (named, plain):
        file.write_text("spark.my.a=x\n")
    git("add", ".")
    for file in (named, plain):
        file.write_text(PROPERTIES)
    for file, shown in ((named, False), (plain, True)):
        (repository / "run.sh").write_text(f"spark-submit --properties-file {file.name} local:///a.py\n")
        (item,) = imported().imported
        assert (MARK in item.text) == shown


@pytest.mark.parametrize("place", ["tracked", "ignored", "untracked", "named"])
def test_a_directory_has_the_defaults_that_git_has(repository: Path, place: str) -> None:
    """Its scripts may be somebody else's. A file that is named is the reader's own choice."""
    (repository / "run.sh").write_text("spark-submit local:///a.py\n")
    (repository / "spark-defaults.conf").write_text(PROPERTIES)
    (repository / ".gitignore").write_text("spark-defaults.conf\n" if place == "ignored" else "")
    git("add", "run.sh", *(["spark-defaults.conf"] if place == "tracked" else ()))
    result = imported(*(["spark-defaults.conf"] if place == "named" else ()), ".")
    shown = place in ("tracked", "named")
    assert (MARK in repr(result)) == shown
    assert [left.reason for left in result.left_alone] == ([] if shown else ["Git does not have it"])


@pytest.mark.parametrize("name", ["conf/job.properties", "job.properties"])
@pytest.mark.parametrize(
    ("template", "shown"), [("pod.yaml", True), ("../own.yaml", False), ("x.yaml", False)]
)
def test_a_file_of_properties_names_no_file_that_git_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, template: str, shown: bool
) -> None:
    """It may be somebody else's, although the command is the reader's own."""
    below = tmp_path / "below"
    (below / "conf").mkdir(parents=True)
    monkeypatch.chdir(below)
    git("init", "--quiet")
    (below / name).write_text(f"spark.kubernetes.driver.podTemplateFile={template}\n")
    for file in (below / "pod.yaml", tmp_path / "own.yaml", below / "x.yaml"):
        file.write_text(TEMPLATE)
    git("add", name, "pod.yaml")
    result = imported("spark-submit", "--properties-file", name, "local:///a.py")
    assert any(MARK in item.text for item in result.imported) == shown


def test_no_text_of_a_file_is_quoted(repository: Path) -> None:
    """Its name is enough; a value of the command line is quoted."""
    call = "aws emr-containers start-job-run --name x --job-driver"
    (repository / "job.json").write_text(f'{{"token": {MARK}')
    (repository / "run.sh").write_text(f"{call} file://job.json\n{call} '{{own: ['\n")
    git("add", ".")
    first, second = imported().left_alone
    assert first.reason == "the value of an option starts like JSON, but is not valid: in job.json"
    assert second.reason == "the value of an option starts like JSON, but is not valid: {own: ["


def test_a_file_that_many_commands_name_is_read_once(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work is bounded by the size of the input."""
    text, command = FILES["pod.yaml"]
    (repository / "pod.yaml").write_text(text)
    (repository / "run.sh").write_text(f"{command}\n" * 20)
    git("add", ".")
    read: list[str] = []
    real = inputs.read_file
    monkeypatch.setattr(inputs, "read_file", lambda name, *rest: read.append(name) or real(name, *rest))
    assert len(imported().imported) == 20
    assert read.count(str(repository / "pod.yaml")) == 1
