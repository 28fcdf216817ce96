"""The pages of the rules: each shows what its rule finds, and what to write instead. Both are checked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen import schema, semantics
from sparkgen.cli.rule import rules
from sparkgen.document import load
from sparkgen.errors import Severity
from sparkgen.semantics.registry import findings_of
from tests.unit.semantics.documents import whole

PAGES = {code: rule.page for code, rule in rules().items()}
RULES = {rule.code: rule for rule in semantics.RULES}
ABOUT_FILES = {"SG306", "SG307", "SG308", "SG309"}
"""Problems of the files beside a document, which no rule over the document alone finds."""


def example(code: str, heading: str) -> str:
    """The YAML block of a page below a heading."""
    match = re.search(rf"^## {heading}\n\n```yaml\n(.*?)^```$", PAGES[code], re.MULTILINE | re.DOTALL)
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
def test_a_page_says_what_its_rule_says(code: str) -> None:
    """The severity stands in the page for readers, above the check for the tool."""
    severity = RULES[code].severity.value.capitalize()
    assert re.match(rf"# {code}: [^\n]*[^.\n]\n\n\*\*{severity}\.\*\* ", PAGES[code])


@pytest.mark.parametrize("code", RULES)
def test_only_pages_of_warnings_say_how_to_ignore_them(code: str) -> None:
    """Errors cannot be ignored, so that nothing on their page may suggest it."""
    assert (f"# sparkgen: ignore {code} -- " in PAGES[code]) == (RULES[code].severity is Severity.WARNING)


def test_there_is_a_page_for_every_rule_and_no_other() -> None:
    """A page without a rule would explain what never happens."""
    assert {code for code in PAGES if code[2] in "13"} == set(RULES) | ABOUT_FILES


def test_rules_are_in_the_order_of_their_codes_and_agree_where_they_share_one() -> None:
    """Reports and the reference show rules in this order; a page names one severity."""
    codes = [rule.code for rule in semantics.RULES]
    assert codes == sorted(codes)
    assert len({(rule.code, rule.severity) for rule in semantics.RULES}) == len(set(codes))
