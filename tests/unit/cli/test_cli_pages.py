"""The pages of the SG0 codes: every code has one, and its examples do what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import sparkgen
from sparkgen.cli.rule import rules
from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.validate import check

from .conftest import DOCUMENT

PACKAGE = Path(sparkgen.__file__).parent
PAGES = {code: rule.page for code, rule in rules().items() if code.startswith("SG0")}
# What is wrong with these is in no text that a page could show.
WITHOUT_EXAMPLE = {"SG001", "SG004", "SG005", "SG017", "SG019"}


def test_every_code_has_a_page() -> None:
    """A code that a problem can have can be looked up."""
    sources = [
        path for name in ("document", "schema", "semantics") for path in (PACKAGE / name).rglob("*.py")
    ]
    used = {code for path in sources for code in re.findall(r'"(SG0\d\d)"', path.read_text())}
    assert used == set(PAGES)


@pytest.mark.parametrize("code", PAGES)
def test_a_page_begins_with_its_title_and_severity(code: str) -> None:
    """In one form, which reports and lists take apart."""
    assert re.match(rf"# {code}: [a-z][^\n]*[^.\n]\n\n\*\*(Error|Warning)\.\*\* ", PAGES[code])


def laid_over(base: Any, over: Any) -> Any:
    """As an overlay is."""
    if isinstance(base, dict) and isinstance(over, dict):
        return {**base, **{key: laid_over(base.get(key), value) for key, value in over.items()}}
    return over


def codes(text: str) -> set[str]:
    """The codes of a document's problems."""
    checked = check(Inputs(("-",)), lambda: text.encode())
    return {problem.code for problem in checked.problems}


def example(code: str, heading: str) -> str:
    """A page's example as a document: laid over a valid one, or as it stands where only the text counts."""
    found = re.search(rf"^## {heading}\n\n```yaml\n(.*?)^```$", PAGES[code], re.MULTILINE | re.DOTALL)
    assert found, f"{code} has no example below {heading}"
    return found[1]


@pytest.mark.parametrize("code", sorted(set(PAGES) - WITHOUT_EXAMPLE))
def test_the_examples_are_wrong_and_right(code: str) -> None:
    """The wrong one has a problem with this code, the right one has none with it."""
    assert code in codes(document(example(code, "Wrong")))
    assert code not in codes(document(example(code, "Right")))


def document(fragment: str) -> str:
    """A whole document of a fragment. Its text stays as it is.

    Quotes, comments and repeated keys are what some rules are about.
    """
    base: dict[str, Any] = yaml.safe_load(DOCUMENT)
    try:
        over = yaml.safe_load(fragment)
    except yaml.YAMLError:
        return fragment
    if not isinstance(over, dict):
        return fragment
    rest = {key: value for key, value in base.items() if key not in over}
    inner = {
        key: {k: v for k, v in base[key].items() if k not in over[key]}
        for key in over
        if isinstance(over[key], dict)
    }
    text = yaml.safe_dump(rest, sort_keys=False) if rest else ""
    for block in re.split(r"^(?=\S)", fragment, flags=re.MULTILINE)[1:]:
        key = block.partition(":")[0]
        missing = yaml.safe_dump(inner[key], sort_keys=False) if inner.get(key) else ""
        text += block + re.sub(r"^(?=.)", "  ", missing, flags=re.MULTILINE)
    return text
