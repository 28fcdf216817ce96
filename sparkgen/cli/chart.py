"""`sparkgen chart`: the Helm chart that takes the same document, as a folder or as a package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparkgen.cli.output import note, write

SUMMARY = "Copy or pack the Helm chart that takes the same document."
HELP = """Copy or pack the Helm chart that takes the same document: `helm install NAME CHART -f app.yaml`.

`export` has the chart in a folder, for a Git repository without access to a registry. `package` writes
spark-app-VERSION.tgz, which `helm push` takes. Both need no network, and always write the same bytes.
"""
EXAMPLES = """\b
Examples:
  sparkgen chart export charts/spark-app
  helm install pi charts/spark-app -f app.yaml
  sparkgen chart package -d dist
  helm push dist/spark-app-0.1.0.tgz oci://registry.example.com/charts
"""


def export(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The chart's folder: new, empty, or of an earlier export.")
    ],
) -> None:
    """Have the chart in DIR, and nothing of an earlier version of it."""
    from sparkgen import chart  # noqa: PLC0415 - one command needs it

    written = chart.export(directory)
    note(f"{len(written)} files in {directory}; next: helm install NAME {directory} -f app.yaml")


def package(
    directory: Annotated[
        Path, typer.Option("--destination", "-d", metavar="DIR", help="The folder to write it into.")
    ] = Path(),
) -> None:
    """Write spark-app-VERSION.tgz, and print its path."""
    from sparkgen import chart  # noqa: PLC0415 - one command needs it

    write(f"{chart.package(directory)}\n")


COMMANDS = (export, package)
