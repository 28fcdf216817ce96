"""`sparkgen explain`: prints what the schema says about a field."""

from __future__ import annotations

import contextlib

from sparkgen.cli.option_table import Option, plain_command
from sparkgen.cli.output import write
from sparkgen.errors import SparkgenError
from sparkgen.schema import explain as pages
from sparkgen.schema.explain import find
from sparkgen.schema.fields import KINDS

HELP = """Explain a field of the document: its meaning, its type and an example.

FIELD is a path with dots, such as spec.executor.memory, or a property of Spark. You can leave out `spec.`
at its start.
"""
EXAMPLES = """\b
Examples:
  sparkgen explain                        # the whole document
  sparkgen explain spec.executor.memory
  sparkgen explain driver --recursive     # all fields below it
  sparkgen explain schedule --kind ScheduledSparkApplication
  sparkgen explain cleaner --kind SparkHistoryServer
  sparkgen explain spark.kubernetes.context    # what becomes of a property
"""


def complete_field(incomplete: str) -> list[str]:
    """Returns the paths that complete what was typed, for the shell."""
    start = incomplete.rpartition(".")[0]
    with contextlib.suppress(SparkgenError):
        names = [child.name for child in find(start, KINDS[0]).item().children()]
        return [
            path for name in names if (path := f"{start}.{name}" if start else name).startswith(incomplete)
        ]
    return []


def explain(field: str, *, recursive: bool, kind: str) -> None:
    """Print what the schema says about a field of a kind, and with `recursive` about the fields below it."""
    write(pages.explain(field, recursive, kind))


COMMAND = plain_command(
    explain,
    Option("field", "FIELD", "Field, for example spec.executor.memory.", complete=complete_field),
    Option("recursive", "--recursive", "List all fields below it."),
    Option("kind", "--kind KIND", "Kind of document that has the field.", choices=KINDS, default=KINDS[0]),
)
