"""`sparkgen rule`: prints the page of a rule, or lists all rules."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import sparkgen
from sparkgen.cli.option_table import Option, plain_command
from sparkgen.cli.output import write
from sparkgen.document.ignores import ENDED
from sparkgen.errors import SparkgenError
from sparkgen.reports import Rule

HELP = """Explain a rule: what it finds, why it matters, and how to fix it.

Without CODE, list all rules. SG0 codes are about the syntax and structure of a document, SG1 and SG3 codes
about its meaning, and SG2 codes about policy (sparkgen lint).
"""
EXAMPLES = """\b
Examples:
  sparkgen rule
  sparkgen rule SG104
  sparkgen rule SG104 --source
"""
_PACKAGE = Path(sparkgen.__file__).parent
_CHECKED_OUTSIDE_RULES = ("document", "schema", "semantics", "delivery", "usecases")
"""The folders with the checks that are no rules of a registry: those of text, structure and local files."""


def complete_code(incomplete: str) -> list[str]:
    """Returns the codes that complete what was typed, for the shell."""
    return [code for code in rules() if code.startswith(incomplete.upper())]


def rule(code: str, *, source: bool) -> None:
    """Print the page of a rule, or with `source` where it is checked; for "", the list of all rules."""
    known = rules()
    if source and not code:
        raise SparkgenError("--source needs the code of a rule: sparkgen rule SG104 --source")
    if not code:
        write("".join(f"{each.code}  {each.title}\n" for each in known.values()))
        return
    written = f"SG{code:0>3}" if code.isdecimal() else code.upper()
    asked = known.get(ENDED.get(written, written))
    if asked is None:
        raise SparkgenError(f"unknown rule {code}; to list all rules: sparkgen rule")
    moved = f"{written} is now a part of {asked.code}.\n\n" if written in ENDED else ""
    write(moved + (_places(asked.code) if source else asked.page))


COMMAND = plain_command(
    rule,
    Option("code", "CODE", "Code of the rule.", complete=complete_code),
    Option("source", "--source", "Print the files of sparkgen with the rule's check and page."),
)


def rules() -> dict[str, Rule]:
    """Returns every rule by code, in their order, from pages such as semantics/pages/SG104-name-too-long.md.

    A page's first line is `# CODE: title`.
    """
    by_code = {}
    for path in sorted(_PACKAGE.glob("*/pages/SG*.md"), key=lambda path: path.name):
        code, page = path.name.partition("-")[0], path.read_text(encoding="utf-8")
        by_code[code] = Rule(code, page.partition("\n")[0].removeprefix(f"# {code}: "), page)
    return by_code


def _places(code: str) -> str:
    """Returns file and line of each check of a rule and of its page, here and in sparkgen's repository."""
    pages = ((path, 1) for path in _PACKAGE.glob(f"*/pages/{code}-*.md"))
    places = [*(_in_registries(code) or _in_sources(code)), *pages]
    here = "".join(f"  {path}:{line}\n" for path, line in places)
    named = dict.fromkeys(path.relative_to(_PACKAGE.parent).as_posix() for path, _ in places)
    return f"Installed:\n{here}In the repository:\n" + "".join(f"  {name}\n" for name in named)


def _in_registries(code: str) -> list[tuple[Path, int]]:
    from sparkgen import lint, semantics  # noqa: PLC0415 - for this option alone

    checks = [rule.check for rule in (*semantics.RULES, *lint.RULES) if rule.code == code]
    return [(Path(inspect.getfile(check)), inspect.getsourcelines(check)[1]) for check in checks]


def _in_sources(code: str) -> Iterator[tuple[Path, int]]:
    """Yields the lines that report a code, not those that compare a problem's code with it."""
    files = (path for folder in _CHECKED_OUTSIDE_RULES for path in (_PACKAGE / folder).rglob("*.py"))
    for path in sorted(files):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if f'"{code}"' in line and f'== "{code}"' not in line:
                yield path, number
