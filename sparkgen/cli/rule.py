"""`sparkgen rule`: prints the page of a rule, or lists all rules."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli.output import write
from sparkgen.errors import SparkgenError

SUMMARY = "Explain a rule by its code, or list all rules."
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


def command(
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE", help="Code of the rule.", show_default=False, autocompletion=complete_code
        ),
    ] = "",
) -> None:
    """Print one rule's page, or the list."""
    from sparkgen.cli.pages import rules  # noqa: PLC0415 - see above

    known = rules()
    if not code:
        write("".join(f"{rule.code}  {rule.title}\n" for rule in known.values()))
        return
    rule = known.get(f"SG{code:0>3}" if code.isdecimal() else code.upper())
    if rule is None:
        raise SparkgenError(f"unknown rule {code}; to list all rules: sparkgen rule")
    write(rule.page)
