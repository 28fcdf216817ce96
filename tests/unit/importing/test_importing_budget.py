"""What commands copy from files that others of them name, too: it is read once, and has a limit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.document.sources import read_file
from sparkgen.importing import Choices, Result, budget, import_all, inputs, properties
from sparkgen.importing.report import as_text
from sparkgen.usecases.validate import examine

SUBMIT, JOBS = "spark-submit", "aws emr-containers start-job-run"
DRIVER = json.dumps({"sparkSubmitJobDriver": {"entryPoint": "local:///a.py"}})
PROPERTIES = "".join(f"spark.x{number} value\n" for number in range(20))
TEMPLATE = "kind: Pod\nspec:\n  nodeSelector:\n" + "".join(f"    k{number}: v\n" for number in range(20))
OVERRIDES = {
    "applicationConfiguration": [
        {"classification": "spark-defaults", "properties": {f"spark.x{number}": "v" for number in range(20)}}
    ]
}
SHARED: dict[str, tuple[str, str, str]] = {
    "the default properties": ("spark-defaults.conf", PROPERTIES, f"{SUBMIT} local:///a.py"),
    "named properties": ("a.conf", PROPERTIES, f"{SUBMIT} --properties-file a.conf local:///a.py"),
    "a folder": ("conf/spark-defaults.conf", PROPERTIES, f"SPARK_CONF_DIR=conf {SUBMIT} local:///a.py"),
    "a pod template": (
        "a.yaml",
        TEMPLATE,
        f"{SUBMIT} --conf spark.kubernetes.driver.podTemplateFile=a.yaml local:///a.py",
    ),
    "a request": (
        "a.json",
        json.dumps(OVERRIDES),
        f"{JOBS} --configuration-overrides file://a.json --job-driver '{DRIVER}'",
    ),
}


def script(commands: Sequence[str]) -> str:
    """A script of these commands."""
    return "\n".join(["#!/bin/sh", *commands, ""])


def imported(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Result:
    """What becomes of a folder with these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    return import_all(["."], Choices(), examine, bytes)


@pytest.mark.parametrize("shared", SHARED.values(), ids=SHARED)
def test_commands_copy_a_file_up_to_a_limit(
    shared: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many name it. A command beyond the limit is not imported by half: it is a finding."""
    name, text, command = shared
    monkeypatch.setattr(budget, "MOST_COPIED", 10_000)
    result = imported(tmp_path, {name: text, "a.sh": script([command] * 40)}, monkeypatch)
    left = [item for item in result.left_alone if item.reason == budget.BEYOND]
    lengths = {len(yaml.safe_load(item.text)["spec"]) for item in result.imported}
    assert 1 < len(result.imported) < 10
    assert len(lengths) == 1
    assert [item.position.line for item in left] == [*range(len(result.imported) + 2, 42)]
    assert f"next: {budget.BEYOND_STEP}" in as_text(result)
    assert result.has_findings


@pytest.mark.parametrize("shared", SHARED.values(), ids=SHARED)
def test_hundreds_of_commands_with_a_usual_file_are_within_the_limit(shared: tuple[str, str, str]) -> None:
    """A thousand commands, with five times the file that has twenty values."""
    _, text, _ = shared
    left = budget.Budget()
    for _ in range(1000):
        left.take(5 * len(text), 5 * 25)


def test_properties_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whatever path the commands name their file."""
    reads, read = 0, properties.read_properties

    def counted(text: str) -> Any:
        nonlocal reads
        reads += 1
        return read(text)

    monkeypatch.setattr(properties, "read_properties", counted)
    commands = [f"{SUBMIT} --properties-file {'./' * number}a.txt a.py" for number in range(40)]
    files = {"a.txt": PROPERTIES, "a.sh": script(commands)}
    assert len(imported(tmp_path, files, monkeypatch).imported) == 40
    assert reads == 1


def test_folders_before_a_command_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one counts for spark-submit, so that no budget limits those before it."""
    names = 0

    class Counted(str):
        def __len__(self) -> int:
            nonlocal names
            names += 1
            return super().__len__()

    def counted(text: str) -> list[properties.FileProperty]:
        return [properties.FileProperty(Counted(f"spark.{number}"), "", number) for number in range(50)]

    monkeypatch.setattr(properties, "read_properties", counted)
    command = f"{'SPARK_CONF_DIR=conf ' * 40}{SUBMIT} local:///a.py"
    files = {"conf/spark-defaults.conf": PROPERTIES, "a.sh": script([command])}
    assert len(imported(tmp_path, files, monkeypatch).imported) == 1
    assert names < 10 * 50


def test_a_file_that_scripts_name_is_read_and_searched_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many scripts, and by whatever path."""
    reads = asked = 0

    def counted(name: str, *options: Any) -> Any:
        nonlocal reads
        reads += name.endswith("a.txt")
        return read_file(name, *options)

    def has_file(_root: Path, _file: Path, _data: bytes) -> bool:
        nonlocal asked
        asked += 1
        return True

    monkeypatch.setattr(inputs, "read_file", counted)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.txt").write_text(PROPERTIES)
    for number in range(10):
        commands = [f"{SUBMIT} --properties-file {'./' * times}a.txt a.py" for times in range(2)]
        (tmp_path / f"a{number}.sh").write_text(script(commands))
    assert len(import_all(["."], Choices(), examine, bytes, has_file).imported) == 20
    assert (reads, asked) == (1, 1)


def test_a_single_file_is_never_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a limit of its own."""
    monkeypatch.setattr(budget, "MOST_COPIED", 100)
    files = {"spark-defaults.conf": PROPERTIES, "a.sh": script([f"{SUBMIT} local:///a.py"] * 2)}
    result = imported(tmp_path, files, monkeypatch)
    assert (len(result.imported), len(result.left_alone)) == (1, 1)


def test_the_last_file_of_properties_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for spark-submit, which keeps one name."""
    options = "--properties-file a.conf --properties-file b.conf"
    files = {"a.conf": "spark.a 1\n", "b.conf": "spark.b 2\n"}
    files["a.sh"] = script([f"{SUBMIT} {options} a.py"])
    result = imported(tmp_path, files, monkeypatch)
    assert yaml.safe_load(result.imported[0].text)["spec"]["sparkConf"] == {"spark.b": "2"}
    assert "not needed (line): --properties-file (2)" in as_text(result)
    assert any(item.reason.startswith("it sets properties") for item in result.left_alone)


def test_no_link_of_a_repository_leads_a_command_line_out_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person wrote the command, but somebody's commit may have made the link."""
    (tmp_path / "a.conf").write_text(PROPERTIES)
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "work" / "link.conf").symlink_to("../a.conf")
    monkeypatch.chdir(tmp_path / "work")
    words = [SUBMIT, "--properties-file", "link.conf", "local:///a.py"]
    [item] = import_all(words, Choices(), examine, bytes).imported
    assert "sparkConf" not in yaml.safe_load(item.text)["spec"]
