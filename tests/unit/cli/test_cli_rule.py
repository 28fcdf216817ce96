"""`sparkgen rule`: the pages of rules, and the places of their checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkgen import semantics
from sparkgen.cli.rule import rules
from sparkgen.document.ignores import ENDED

from .conftest import DOCUMENT, Cli

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


@pytest.mark.parametrize(("ended", "code"), ENDED.items())
def test_an_ended_code_leads_to_the_one_that_took_its_place(ended: str, code: str, cli: Cli) -> None:
    """Old comments, policies and build logs name it; no rule has it any more."""
    assert ended not in rules()
    assert cli("rule", ended.lower()).out.startswith(f"{ended} is now a part of {code}.\n\n# {code}: ")


UNUSED_CLASS = DOCUMENT.replace("spec:\n", "spec:\n  mainClass: Main{comment}\n", 1)


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("", ["SG189"]),
        ("  # sparkgen: ignore SG133 -- shared with a jar", []),
        ("  # sparkgen: ignore SG189 -- shared with a jar", []),
        ("  # sparkgen: ignore SG151 -- shared with a jar", ["SG189", "SG018"]),
    ],
)
def test_a_comment_with_an_ended_code_still_ignores(comment: str, codes: list[str], cli: Cli) -> None:
    """Nobody has to edit documents when a rule becomes a part of another."""
    Path("app.yaml").write_text(UNUSED_CLASS.format(comment=comment))
    shown = json.loads(cli("validate", "app.yaml", "--format", "json").out)
    assert [problem["code"] for problem in shown] == codes


def test_an_unused_comment_is_reported_with_the_code_in_it(cli: Cli) -> None:
    """The message names what stands in the file."""
    Path("app.yaml").write_text(DOCUMENT.replace("spec:\n", "spec:  # sparkgen: ignore SG133 -- why\n"))
    assert "there is no SG133 on line" in cli("validate", "app.yaml").out


@pytest.mark.parametrize("arguments", [("--rule", "SG133=off"), ()])
def test_a_policy_with_an_ended_code_still_counts(arguments: tuple[str, ...], cli: Cli) -> None:
    """On the command line and in the configuration."""
    Path("app.yaml").write_text(UNUSED_CLASS.format(comment=""))
    call = ("lint", "app.yaml", "--format", "json")
    assert "SG189" in cli(*call, "--isolated").out
    if not arguments:
        with Path(".sparkgen.yaml").open("a") as file:
            file.write("lint: {rules: {SG133: off}}\n")
    assert "SG189" not in cli(*call, *arguments).out
