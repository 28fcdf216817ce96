"""The corpus: bad documents with the report that each one gets, and documents that must get no error.

A case is a file: tests/golden/bad/NAME.yaml with NAME.expected.txt beside it, tests/golden/good/NAME.yaml.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sparkgen import contract
from sparkgen.cli.request import Request
from sparkgen.cli.validate import validate
from sparkgen.document import Node
from sparkgen.document.configuration import Configured
from sparkgen.errors import Position, Severity
from sparkgen.semantics import RULES

NAMED = Configured(Node(contract.RUNTIME_IMAGE, Position(".sparkgen.yaml", 1, 15)))
"""A repository that names the runtime image for all: what is said of one that does not has its own tests."""
GOLDEN = Path(__file__).resolve().parents[2] / "golden"
BAD = sorted(path.stem for path in (GOLDEN / "bad").glob("*.yaml"))
GOOD = sorted(path.stem for path in (GOLDEN / "good").glob("*.yaml"))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_document_gets_its_report(
    name: str,
    golden: Callable[[Path, str], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every word that a user sees is in a file, so that a change of words is seen in review."""
    monkeypatch.chdir(GOLDEN / "bad")
    validate(Request((f"{name}.yaml",), colour="never", configured=NAMED))
    report = capsys.readouterr().out
    assert report, "this document has no problem: it belongs to the good ones"
    golden(GOLDEN / "bad" / f"{name}.expected.txt", report)


@pytest.mark.parametrize("name", GOOD)
def test_a_document_that_works_gets_no_error(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wrong error costs more trust than ten right ones win."""
    monkeypatch.chdir(GOLDEN / "good")
    code = validate(Request((f"{name}.yaml",), colour="never", configured=NAMED))
    assert (code, "error[" in capsys.readouterr().out) == (0, False)


def test_the_corpus_is_as_large_as_promised() -> None:
    """At least 60 bad documents and 15 good ones, and no report without its document."""
    assert (len(BAD) >= 60, len(GOOD) >= 15) == (True, True)
    assert {path.name.removesuffix(".expected.txt") for path in (GOLDEN / "bad").glob("*.txt")} == set(BAD)


def test_every_error_of_the_rules_is_in_the_corpus() -> None:
    """An error stops people: what it says has been read by somebody."""
    reports = "".join(path.read_text(encoding="utf-8") for path in (GOLDEN / "bad").glob("*.expected.txt"))
    errors = {rule.code for rule in RULES if rule.severity is Severity.ERROR}
    assert {code for code in errors if f"error[{code}]" not in reports} == set()
