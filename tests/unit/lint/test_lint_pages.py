"""The pages of the rules of policy: each shows what is wrong and what is right. Both are checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen import schema, semantics
from sparkgen.cli.rule import rules
from sparkgen.document import Document, load
from sparkgen.errors import Severity
from sparkgen.lint import PROFILES, RULES, Config
from sparkgen.lint.configfile import read_config
from sparkgen.lint.evidence import Evidence
from sparkgen.lint.registry import check
from tests.unit.semantics.documents import whole

PAGES = {code: rule.page for code, rule in rules().items() if code.startswith("SG2")}
REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "lint.md"
BY_CODE = {rule.code: rule for rule in RULES}


def example(code: str, heading: str) -> str:
    """The YAML block of a page below a heading; "" if there is none."""
    match = re.search(rf"^## {heading}\n\n```yaml\n(.*?)^```$", PAGES[code], re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


def document(value: dict[str, Any]) -> Document:
    """A document with this value."""
    (found,) = load(("-",), stdin=lambda: yaml.safe_dump(value).encode()).documents
    return found


def codes(code: str, heading: str) -> set[str]:
    """What is found in an example, with the configuration that the page shows."""
    config = read_config(example(code, "Configuration").encode(), ".sparkgen.yaml")
    assert isinstance(config, Config)
    shown = document(whole(example(code, heading)))
    assert schema.check(shown) == []
    assert [problem for problem in semantics.check(shown) if problem.severity is Severity.ERROR] == []
    return {problem.code for problem, _ in check(shown, config.settings, evidence(code))}


def evidence(code: str) -> tuple[Evidence, ...]:
    """What a recorded run says, as the page shows it."""
    said = yaml.safe_load(example(code, "What the log says")) or {}
    snake = {
        re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name): value for name, value in said.items()
    }
    return (Evidence("app-1.zstd", "", **snake),) if said else ()


@pytest.mark.parametrize("code", BY_CODE)
def test_the_wrong_example_is_found_by_its_rule(code: str) -> None:
    """A reader who recognises their document in the example has this finding."""
    assert code in codes(code, "Wrong")


@pytest.mark.parametrize("code", BY_CODE)
def test_the_right_example_is_not(code: str) -> None:
    """What a page recommends ends the finding."""
    assert example(code, "Right")
    assert code not in codes(code, "Right")


@pytest.mark.parametrize("code", BY_CODE)
def test_a_page_says_what_its_rule_says(code: str) -> None:
    """Severity and profiles stand in the page for readers, above the check for the tool."""
    rule = BY_CODE[code]
    head, _, rest = PAGES[code].partition("\n\n")
    assert re.fullmatch(rf"# {code}: [^.\n]+", head)
    assert rest.startswith(f"**{rule.severity.value.capitalize()}.** ")
    assert set(re.findall(r"`([a-z-]+)`", re.findall(r"Profiles?: (.*)\.$", rest, re.MULTILINE)[0])) == set(
        rule.profiles
    )
    assert f"# sparkgen: ignore {code} -- " in rest


def test_there_is_a_page_for_every_rule_and_no_other() -> None:
    """A page without a rule would explain what never happens; SG200 is about the configuration."""
    assert set(PAGES) == {*BY_CODE, "SG200"}


def test_the_page_about_the_configuration_is_right() -> None:
    """Its wrong example is SG200, its right one is none."""
    wrong = read_config(example("SG200", "Wrong").encode(), ".sparkgen.yaml")
    assert isinstance(wrong, tuple)
    assert {problem.code for problem in wrong} == {"SG200"}
    assert isinstance(read_config(example("SG200", "Right").encode(), ".sparkgen.yaml"), Config)


def test_rules_are_in_order_and_their_profiles_exist() -> None:
    """Reports show rules in this order; a rule of an unknown profile would never be asked."""
    assert list(BY_CODE) == sorted(BY_CODE)
    assert len({(rule.code, rule.severity, rule.profiles) for rule in RULES}) == len(BY_CODE)
    assert {profile for rule in RULES for profile in rule.profiles} == set(PROFILES)


def reference() -> str:
    """docs/reference/lint.md: a table, and then every page with its headings one level deeper."""
    rows, sections = [], []
    for code in ("SG200", *BY_CODE):
        text = PAGES[code]
        title = text.partition("\n")[0].removeprefix(f"# {code}: ")
        anchor = re.sub(r"[^a-z0-9 _-]", "", f"{code}: {title}".lower()).replace(" ", "-")
        rule = BY_CODE.get(code)
        severity, profiles = (rule.severity.value, ", ".join(rule.profiles)) if rule else ("error", "")
        rows.append(f"| [{code}](#{anchor}) | {severity} | {profiles} | {title} |\n")
        parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
        parts[::2] = [re.sub(r"^(#+ )", r"#\1", part, flags=re.MULTILINE) for part in parts[::2]]
        sections.append("\n" + "".join(parts))
    head = (
        "# Lint rules\n\nOn this page you look up what each rule of `sparkgen lint` finds, and why.\n"
        "To read about one rule in your terminal, run `sparkgen rule` with its code: `sparkgen rule SG201`.\n"
        "[Lint](../lint.md) explains profiles and severities.\n"
        "`sparkgen lint` also checks the rules of `sparkgen validate`: see [Rules](rules.md).\n\n"
        "| Code | Severity | Profiles | What it finds |\n|---|---|---|---|\n"
    )
    return head + "".join(rows) + "".join(sections)


def test_the_reference_is_made_of_the_pages(golden: Callable[[Path, str], None]) -> None:
    """A page that changes without the reference would make two documentations."""
    golden(REFERENCE, reference())
