"""`sparkgen chart`: copies or packages the Helm chart that takes the same documents."""

from __future__ import annotations

from pathlib import Path

from sparkgen import chart
from sparkgen.cli.option_table import Option, plain_command
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


def export(directory: Path) -> None:
    """Copy the chart into a folder, and print how to install it."""
    written = chart.export(directory)
    note(f"wrote {len(written)} files to {directory}; next: helm install NAME {directory} -f app.yaml")


def package(directory: Path) -> None:
    """Write the package into a folder, and print its path."""
    write(f"{chart.package(directory)}\n")


COMMANDS = (
    plain_command(
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
    plain_command(
        package,
        Option(
            "directory", "--destination -d DIR", "Folder to write the package to.", kind=Path, default=Path()
        ),
        name="package",
        help="Write spark-app-VERSION.tgz, and print its path.",
    ),
)
