"""`sparkgen rule`: prints the page of a rule, or lists all rules."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.cli.option_table import Option, command
from sparkgen.cli.output import write
from sparkgen.errors import SparkgenError

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
    from sparkgen.cli.pages import rules  # noqa: PLC0415 - only this command reads the pages

    return [code for code in rules() if code.startswith(incomplete.upper())]


@dataclass(frozen=True)
class RuleOptions:
    """The code of a rule; "" for all of them."""

    code: str


def rule(options: RuleOptions) -> None:
    """Print one rule's page, or the list."""
    from sparkgen.cli.pages import rules  # noqa: PLC0415 - see above

    known, code = rules(), options.code
    if not code:
        write("".join(f"{each.code}  {each.title}\n" for each in known.values()))
        return
    asked = known.get(f"SG{code:0>3}" if code.isdecimal() else code.upper())
    if asked is None:
        raise SparkgenError(f"unknown rule {code}; to list all rules: sparkgen rule")
    write(asked.page)


COMMAND = command(RuleOptions, rule, Option("code", "CODE", "Code of the rule.", complete=complete_code))
