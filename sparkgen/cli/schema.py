"""`sparkgen schema`."""

from __future__ import annotations

from sparkgen.cli.output import data

SUMMARY = "Print the JSON Schema of the document, for editors."
HELP = """Print the JSON Schema of the document: one file, for editors and other checkers.

An editor with a YAML language server uses it in every document that begins with the line
`# yaml-language-server: $schema=spark-application.schema.json`.
"""
EXAMPLES = """\b
Examples:
  sparkgen schema > spark-application.schema.json
"""


def command() -> None:
    """Print the schema with all that it refers to."""
    import json  # noqa: PLC0415 - one command needs it

    from sparkgen.schema import bundle  # noqa: PLC0415

    data(json.dumps(bundle(), indent=2, ensure_ascii=False) + "\n")
