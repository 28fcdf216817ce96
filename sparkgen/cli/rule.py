"""`sparkgen rule`: prints the page of a rule, or lists all rules."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from sparkgen.cli.option_table import Option, command
from sparkgen.cli.output import write
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
"""


def complete_code(incomplete: str) -> list[str]:
    """Returns the codes that complete what was typed, for the shell."""
    return [code for code in rules() if code.startswith(incomplete.upper())]


@dataclass(frozen=True)
class RuleOptions:
    """The code of a rule; "" for all of them."""

    code: str


def rule(options: RuleOptions) -> None:
    """Print one rule's page, or the list."""
    known, code = rules(), options.code
    if not code:
        write("".join(f"{each.code}  {each.title}\n" for each in known.values()))
        return
    asked = known.get(f"SG{code:0>3}" if code.isdecimal() else code.upper())
    if asked is None:
        raise SparkgenError(f"unknown rule {code}; to list all rules: sparkgen rule")
    write(asked.page)


COMMAND = command(RuleOptions, rule, Option("code", "CODE", "Code of the rule.", complete=complete_code))


def rules() -> dict[str, Rule]:
    """Returns every rule by code, in their order, from pages such as semantics/pages/SG104.md.

    A page's first line is `# CODE: title`.
    """
    folders = [files("sparkgen").joinpath(part, "pages") for part in ("semantics", "lint")]
    by_code = {}
    for entry in sorted((e for folder in folders for e in folder.iterdir()), key=lambda entry: entry.name):
        code, _, kind = entry.name.partition(".")
        if kind == "md":
            page = entry.read_text(encoding="utf-8")
            title = page.partition("\n")[0].removeprefix("#").strip().removeprefix(code).lstrip(": ")
            by_code[code] = Rule(code, title, page)
    return by_code
