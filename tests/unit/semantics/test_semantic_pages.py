"""The pages of the rules: each shows what its rule finds, and what to write instead. Both are checked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen import schema, semantics
from sparkgen.document import load
from sparkgen.errors import Severity, SparkgenError
from sparkgen.semantics import pages
from sparkgen.semantics.registry import findings_of
from tests.unit.semantics.documents import whole

RULES = {rule.code: rule for rule in semantics.RULES}
ABOUT_FILES = {"SG306", "SG307", "SG308", "SG309"}
"""Problems of the files beside a document, which no rule over the document alone finds."""


def example(code: str, heading: str) -> str:
    """The YAML block of a page below a heading."""
    match = re.search(rf"^## {heading}\n\n```yaml\n(.*?)^```$", pages.page(code), re.MULTILINE | re.DOTALL)
    assert match, f"the page of {code} has no example below '{heading}'"
    return match[1]


def valid(value: dict[str, Any], tmp_path: Path) -> list[Any]:
    """What the schema has against a document."""
    path = tmp_path / "app.yaml"
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    (document,) = load([str(path)]).documents
    return schema.check(document)


@pytest.mark.parametrize("code", RULES)
def test_the_wrong_example_is_found_by_its_rule(code: str, tmp_path: Path) -> None:
    """A reader who recognises their document in the example has this problem."""
    value = whole(example(code, "Wrong"))
    assert valid(value, tmp_path) == []
    found = {rule.code for rule, _ in findings_of(value)}
    assert code in found
    assert not {other for other in found - {code} if RULES[other].severity is Severity.ERROR}


@pytest.mark.parametrize("code", RULES)
def test_the_right_example_has_no_problem_at_all(code: str, tmp_path: Path) -> None:
    """What a page recommends is never the next problem, but for what it ignores with a reason."""
    text = example(code, "Right")
    value = whole(text)
    ignored = set(re.findall(r"# sparkgen: ignore (SG[0-9]+) -- \w", text)) - {code}
    assert valid(value, tmp_path) == []
    assert {rule.code for rule, _ in findings_of(value)} == ignored


@pytest.mark.parametrize("code", RULES)
def test_a_page_says_what_the_table_says(code: str) -> None:
    """Title and severity stand in the page for readers, in the table for the tool."""
    rule = RULES[code]
    title = rule.summary[0].lower() + rule.summary[1:].rstrip(".")
    page = pages.page(code)
    assert page.startswith(f"# {code}: {title}\n\n**{rule.severity.value.capitalize()}.** ")


@pytest.mark.parametrize("code", RULES)
def test_only_pages_of_warnings_say_how_to_ignore_them(code: str) -> None:
    """Errors cannot be ignored, so that nothing on their page may suggest it."""
    assert (f"# sparkgen: ignore {code} -- " in pages.page(code)) == (
        RULES[code].severity is Severity.WARNING
    )


def test_there_is_a_page_for_every_rule_and_no_other() -> None:
    """A page without a rule would explain what never happens."""
    folder = Path(semantics.__file__).parent / "pages"
    assert {path.stem for path in folder.glob("SG[13]*.md")} == set(RULES) | ABOUT_FILES


@pytest.mark.parametrize("code", ["SG999", "", "../SG101", "sg101"])
def test_an_unknown_code_is_an_error_for_people(code: str) -> None:
    """And never a path into the file system."""
    with pytest.raises(SparkgenError, match="there is no rule"):
        pages.page(code)


def test_the_table_is_in_the_order_of_its_codes_and_names_are_unique() -> None:
    """Reports and the reference show rules in this order."""
    codes = [rule.code for rule in semantics.RULES]
    assert codes == sorted(set(codes))
    assert len({rule.name for rule in semantics.RULES}) == len(codes)
