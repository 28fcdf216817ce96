"""`sparkgen chart`: copies or packages the Helm chart that takes the same documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparkgen.cli.output import note, write

SUMMARY = "Copy or package the Helm chart that takes the same documents."
HELP = """Copy or package the Helm chart that takes the same documents: `helm install NAME CHART -f app.yaml`.

`export` copies the chart into a folder, for a Git repository that cannot use a chart registry. `package`
writes spark-app-VERSION.tgz, for `helm push`. Neither command needs the network, and the same version of
sparkgen always writes the same bytes.
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
        Path,
        typer.Argument(metavar="DIR", help=("Folder for the chart: new, empty, or from an earlier export.")),
    ],
) -> None:
    """Copy the chart to DIR. Files of an earlier version are removed."""
    from sparkgen import chart  # noqa: PLC0415 - one command needs it

    written = chart.export(directory)
    note(f"wrote {len(written)} files to {directory}; next: helm install NAME {directory} -f app.yaml")


def package(
    directory: Annotated[
        Path, typer.Option("--destination", "-d", metavar="DIR", help="Folder to write the package to.")
    ] = Path(),
) -> None:
    """Write spark-app-VERSION.tgz, and print its path."""
    from sparkgen import chart  # noqa: PLC0415 - one command needs it

    write(f"{chart.package(directory)}\n")


COMMANDS = (export, package)
