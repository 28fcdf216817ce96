"""`sparkgen import`: converts other tools' applications to documents."""

from __future__ import annotations

import enum
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkgen.cli import output
from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from sparkgen.importing import Imported, Result

SUMMARY = "Convert SparkApplications and spark-submit commands to documents."
HELP = """Convert other operators' SparkApplications and spark-submit commands to documents.

The input can be a SparkApplication or ScheduledSparkApplication (v1beta2) or a SparkConnect (v1alpha1) of
kubeflow's operator, a SparkApplication of Apache's operator (spark.apache.org), a script that calls
spark-submit, or a spark-submit command line after `--`. Directories are searched recursively.

Every document that the command writes is valid. Nothing is dropped silently: the report on standard error
lists each value that was not converted, that has another meaning in a document, or that import had to choose.
For each of these values, the report shows the line, the reason and what to do. Exits 1 if the report lists
any such value.
"""
EXAMPLES = """\b
Examples:
  sparkgen import pi.yaml > app.yaml
  sparkgen import spark-apps/ -o apps/            # one file per application, and a summary
  sparkgen import submit.sh --image registry.example.com/etl:1.4
  sparkgen import pi.yaml --report json 2> report.json
  sparkgen import -- spark-submit --class org.example.Main local:///opt/app.jar 100
  kubectl get sparkapplications.sparkoperator.k8s.io -A -o yaml | sparkgen import - -o apps/
"""


class Report(str, enum.Enum):
    """The formats of the report."""

    TEXT = "text"
    FULL = "full"
    JSON = "json"
    NONE = "none"


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="YAML files, shell scripts, directories, - for standard input, or `-- spark-submit ...`.",
        show_default=False,
    ),
]
Directory = Annotated[
    str,
    typer.Option(
        "--output-dir",
        "-o",
        metavar="DIR",
        help="Write one file per application, DIR/NAME.yaml, instead of printing all to standard output.",
        show_default=False,
    ),
]
Form = Annotated[
    Report,
    typer.Option(
        "--report",
        help="Report: text (what needs your attention), full (every value), json (every value), or none.",
    ),
]
KeepLabels = Annotated[
    bool,
    typer.Option(
        "--keep-labels",
        help="Keep the pod labels that kubeflow's operator sets (sparkoperator.k8s.io/...).",
    ),
]
Name = Annotated[
    str,
    typer.Option(
        "--name",
        metavar="NAME",
        help=("Name of the application, if the input has only one."),
        show_default=False,
    ),
]
ImageName = Annotated[
    str,
    typer.Option(
        "--image", metavar="IMAGE", help="Image with Spark and the application.", show_default=False
    ),
]
SparkVersion = Annotated[
    str,
    typer.Option(
        "--spark-version", metavar="VERSION", help="Spark version in the image.", show_default=False
    ),
]


def command(
    sources: Inputs,
    directory: Directory = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite files in DIR.")] = False,
    report: Form = Report.TEXT,
    keep_labels: KeepLabels = False,
    name: Name = "",
    image: ImageName = "",
    spark_version: SparkVersion = "",
) -> None:
    """Import applications."""
    from sparkgen.cli.problems import Stdin, show  # noqa: PLC0415
    from sparkgen.cli.request import Request  # noqa: PLC0415
    from sparkgen.importing import Choices, import_all  # noqa: PLC0415
    from sparkgen.usecases.checking import examine  # noqa: PLC0415 - only for this command

    _check_name(name)
    stdin = Stdin()
    result = import_all(sources, Choices(name, image, spark_version, keep_labels), examine, stdin)
    if name and len(result.imported) > 1:
        raise SparkgenError(
            f"--name takes one application, but the input has {len(result.imported)}; leave out --name"
        )
    if result.problems and report is not Report.JSON:
        show(result.problems, Request(tuple(sources)), stdin, on_stdout=False)
    if directory:
        _write(Path(directory), result.imported, force=force)
    elif result.imported:
        output.data("---\n".join(item.text for item in result.imported))
    _report(result, report)
    if result.has_findings or not result.imported:
        raise typer.Exit(1)


def _check_name(name: str) -> None:
    from sparkgen.importing.naming import application_name  # noqa: PLC0415

    if name and application_name(name) != name:
        raise SparkgenError(f"--name {name!r} is not a valid name; use for example {application_name(name)}")


def _report(result: Result, form: Report) -> None:
    from sparkgen.importing.report import as_json, as_text  # noqa: PLC0415 - only for this command

    if form is Report.JSON:
        output.data(as_json(result), sys.stderr)
    elif form is not Report.NONE:
        output.complain(as_text(result, full=form is Report.FULL))


def _write(directory: Path, items: Sequence[Imported], *, force: bool) -> None:
    """Write one file per application. Without `force`, nothing is written if one of the files exists."""
    from sparkgen.writers.new_files import write_new  # noqa: PLC0415 - only for this command

    texts = (item.text for item in items)
    write_new(directory, dict(zip(file_names(items), texts, strict=True)), force=force)


def file_names(items: Sequence[Imported]) -> list[str]:
    """Returns a file for each application: NAME.yaml; for equal names, with the namespace or a number."""
    plain = [item.name for item in items]
    names: list[str] = []
    for item in items:
        name = item.name
        if plain.count(name) > 1 and item.namespace:
            name = f"{item.namespace}-{item.name}"
        base, number = name, 2
        while f"{name}.yaml" in names:
            name, number = f"{base}-{number}", number + 1
        names.append(f"{name}.yaml")
    return names
