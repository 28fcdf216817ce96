"""Inputs of all formats: the document, the report, and an account of every value.

An input is a file of tests/golden/import/inputs; beside it lie what is made of it and what is reported.
"""

from __future__ import annotations

import functools
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sparkgen.document import Document
from sparkgen.document.parse import parse
from sparkgen.errors import Severity
from sparkgen.importing import Choices, Imported, Result, import_all
from sparkgen.importing.report import as_json, as_text
from sparkgen.importing.script import read_script
from sparkgen.usecases.render import render
from sparkgen.usecases.validate import examine

from .accounting import Texts, unaccounted

FOLDER = Path(__file__).parents[2] / "golden" / "import"
INPUTS = sorted(path.name for path in (FOLDER / "inputs").iterdir())
PLAIN = Choices()
EACH = pytest.mark.parametrize("name", INPUTS)


@pytest.fixture(autouse=True)
def in_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions name the inputs by their names alone."""
    monkeypatch.chdir(FOLDER / "inputs")


@functools.cache
def imported(name: str, choices: Choices = PLAIN) -> Result:
    """What becomes of an input."""
    return import_all([name], choices, examine, lambda: b"")


def as_document(item: Imported) -> Document:
    """A written document, read again."""
    (composed,) = parse(item.text.encode(), "app.yaml").documents
    assert composed.root is not None
    return Document(composed.root, composed.root.value, "app.yaml", 0)


def test_there_are_enough_inputs() -> None:
    """Forty documents at least, of every format."""
    assert len(INPUTS) >= 40
    assert {name.partition("-")[0] for name in INPUTS} >= {"kubeflow", "apache", "submit"}


@EACH
def test_document_and_report(name: str, golden: Callable[[Path, str], None]) -> None:
    """What is written and what is reported are exactly as they were read and approved."""
    result = imported(name)
    stem = FOLDER / "expected" / Path(name).stem
    golden(stem.with_suffix(".yaml"), "---\n".join(item.text for item in result.imported))
    golden(stem.with_suffix(".txt"), as_text(result, full=True))


@EACH
def test_the_document_validates_and_renders(name: str) -> None:
    """Whatever came in, what goes out has no error, and makes manifests."""
    for item in imported(name).imported:
        assert item.problems == ()
        document = as_document(item)
        assert [p for p in examine(document) if p.severity is Severity.ERROR] == []
        assert render(document, "").manifests


@EACH
def test_every_value_is_accounted_for(name: str) -> None:
    """Each value of an input is carried over, called needless, or reported; and is where it is said to be."""
    result = imported(name)
    text = (FOLDER / "inputs" / name).read_text("utf-8")
    if name.endswith(".sh"):
        assert words_without_a_word(text, result) == []
        return
    items = iter(result.imported)
    wrong = []
    for value in yaml.load_all(text, Texts):
        for path, application in applications(value):
            wrong += unaccounted(application, next(items), path)
    assert wrong == []
    assert list(items) == []


def applications(value: dict[str, object]) -> list[tuple[tuple[str | int, ...], object]]:
    """The applications of a YAML document, with their paths in it."""
    if not value:
        return []
    if value["kind"] == "List":
        items = value["items"]
        assert isinstance(items, list)
        return [(("items", i), item) for i, item in enumerate(items) if "Spark" in item["kind"]]
    ours = str(value["apiVersion"]).startswith(("sparkoperator", "spark.apache"))
    return [((), value)] if ours else []


def words_without_a_word(text: str, result: Result) -> list[str]:
    """Words of spark-submit commands, and other commands, of which nothing is said."""
    said = {(e.position.line, e.position.column) for item in result.imported for e in item.entries}
    said |= {(item.position.line, item.position.column) for item in result.left_alone}
    script = read_script(text)
    silent = []
    for words, before in zip(script.submits, script.before, strict=True):
        if "--kill" in [word.text for word in words]:
            continue  # said of the command as a whole
        places = [(word.line, word.column) in said for word in words[1:]]
        for index, word in enumerate(words[1:]):
            value_is_said = word.text.startswith("-") and index + 1 < len(places) and places[index + 1]
            if not (places[index] or value_is_said):
                silent.append(word.text)
        silent += [word.text for word in before if (word.line, word.column) not in said]
    return silent + [word.text for word in script.others if (word.line, word.column) not in said]


@EACH
def test_the_json_report_says_the_same(name: str) -> None:
    """The report for programs has every entry, with its line, and findings have a reason."""
    result = imported(name)
    value = json.loads(as_json(result))
    assert [item["name"] for item in value["applications"]] == [item.name for item in result.imported]
    for application in value["applications"]:
        for entry in application["values"]:
            assert entry["line"] >= 1
            assert entry["source"] or entry["target"]
            assert not entry["finding"] or entry["reason"]


def test_no_golden_without_its_input(regenerate: bool) -> None:
    """An input that goes takes its goldens along."""
    expected = {path.stem for path in (FOLDER / "expected").iterdir()}
    orphans = expected - {Path(name).stem for name in INPUTS}
    if regenerate:
        for orphan in orphans:
            for path in (FOLDER / "expected").glob(f"{orphan}.*"):
                path.unlink()
        return
    assert orphans == set()


def test_labels_that_others_select_on_are_kept_on_request() -> None:
    """--keep-labels: what kubeflow's operator puts on pods is in both roles, and the document validates."""
    (item,) = imported("kubeflow-typical.yaml", Choices(labels=True)).imported
    spec = as_document(item).value["spec"]
    for role in ("driver", "executor"):
        assert spec[role]["labels"]["sparkoperator.k8s.io/app-name"] == "typical"
        assert spec[role]["labels"]["team"] == "orders"
    (plain,) = imported("kubeflow-typical.yaml").imported
    assert "sparkoperator" not in plain.text


def test_a_command_line_is_read_as_the_same_script_is() -> None:
    """`sparkgen import -- spark-submit ...` makes of words what it makes of a script with them."""
    text = Path("submit-kubernetes.sh").read_text("utf-8")
    words = shlex.split(text.replace("\\\n", " "), comments=True)
    (item,) = import_all(words, Choices(), examine, lambda: b"").imported
    (script,) = imported("submit-kubernetes.sh").imported
    assert as_document(item).value == as_document(script).value


def test_a_directory_gives_what_its_files_give() -> None:
    """All inputs at once: the same documents, in the order of the files' names.

    A name that import made itself gives way to one that a document has.
    """
    every = import_all(["."], Choices(), examine, lambda: b"")
    single = [item.name for name in INPUTS for item in imported(name).imported]
    assert [item.name.removesuffix("-2") for item in every.imported] == single


def test_standard_input_is_read() -> None:
    """`-` is what comes by a pipe, YAML or a script."""
    for name in ("kubeflow-typical.yaml", "submit-yarn.sh"):
        data = Path(name).read_bytes()
        (item,) = import_all(["-"], Choices(), examine, lambda data=data: data).imported  # type: ignore[misc]
        assert item.origin.file == "<stdin>"
        (same,) = imported(name).imported
        assert as_document(item).value == as_document(same).value


def test_pipes_in_a_folder_are_not_opened(tmp_path: Path) -> None:
    """Nobody writes to them, so that to open them would take forever."""
    for name in ("a.yaml", "run.sh", "spark-defaults.conf"):
        os.mkfifo(tmp_path / name)
    result = import_all([str(tmp_path)], PLAIN, examine, lambda: b"")
    assert [problem.message for problem in result.problems] == ["it is a pipe, a socket or a device"] * 3
