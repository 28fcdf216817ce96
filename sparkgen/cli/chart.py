"""`sparkgen chart`: copies or packages the Helm chart that takes the same documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sparkgen import chart
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.output import note, write

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


@dataclass(frozen=True)
class ChartOptions:
    """The folder of the chart, or of its package."""

    directory: Path


def export(options: ChartOptions) -> None:
    """Copy the chart, and print how to install it."""
    directory = options.directory
    written = chart.export(directory)
    note(f"wrote {len(written)} files to {directory}; next: helm install NAME {directory} -f app.yaml")


def package(options: ChartOptions) -> None:
    """Write the package, and print its path."""
    write(f"{chart.package(options.directory)}\n")


COMMANDS = (
    command(
        ChartOptions,
        export,
        Option(
            "directory",
            "DIR",
            "Folder for the chart: new, empty, or from an earlier export.",
            kind=Path,
            required=True,
        ),
        name="export",
        help="Copy the chart to DIR. Files of an earlier version are removed.",
    ),
    command(
        ChartOptions,
        package,
        Option(
            "directory", "--destination -d DIR", "Folder to write the package to.", kind=Path, default=Path()
        ),
        name="package",
        help="Write spark-app-VERSION.tgz, and print its path.",
    ),
)
