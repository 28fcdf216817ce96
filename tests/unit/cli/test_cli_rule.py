"""`sparkgen rule`: the pages of rules, and the places of their checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkgen import semantics
from sparkgen.cli.rule import rules

from .conftest import Cli

ROOT = Path(semantics.__file__).parents[2]


def places(told: str) -> tuple[list[tuple[Path, int]], list[str]]:
    """File and line of each installed place, and the paths in the repository."""
    here, there = told.removeprefix("Installed:\n").split("In the repository:\n")
    lines = [line.strip().rpartition(":") for line in here.splitlines()]
    return [(Path(file), int(line)) for file, _, line in lines], there.split()


def test_source_leads_to_the_check_and_the_page(cli: Cli) -> None:
    """The check's line has the code and the function's name; the page is beside it."""
    (check, page), named = places(cli("rule", "sg104", "--source").out)
    assert named == [
        "sparkgen/semantics/rules_metadata.py",
        "sparkgen/semantics/pages/SG104-name-too-long.md",
    ]
    assert [check[0], page[0]] == [ROOT / name for name in named]
    lines = check[0].read_text(encoding="utf-8").splitlines()[check[1] - 1 :]
    assert lines[0] == '@rule("SG104", ERROR)'
    assert lines[1].startswith("def names_too_long(")


def test_source_leads_to_every_check_of_a_code(cli: Cli) -> None:
    """Applications, shuffle services and history servers have a check of secrets each."""
    found, _ = places(cli("rule", "117", "--source").out)
    assert [path.name for path, _ in found[:-1]] == [
        "rules_historyserver.py",
        "rules_secrets.py",
        "rules_service.py",
    ]


@pytest.mark.parametrize("code", rules())
def test_every_code_leads_to_lines_with_it(code: str, cli: Cli) -> None:
    """Also the codes of text, structure and local files, which are no rules over a document's value."""
    found, _ = places(cli("rule", code, "--source").out)
    *checks, (page, first) = found
    assert checks
    assert (first, page.name.partition("-")[0]) == (1, code)
    for path, line in checks:
        lines = path.read_text(encoding="utf-8").splitlines()[line - 1 :]
        assert f'"{code}"' in "".join(lines[:2]), (path, line)


def test_source_without_a_code_is_a_wrong_call(cli: Cli) -> None:
    """The message names the call that works."""
    result = cli("rule", "--source")
    assert result.code == 2
    assert "sparkgen rule SG104 --source" in result.err
