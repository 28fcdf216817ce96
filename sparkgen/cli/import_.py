"""`sparkgen import`: converts other tools' applications to documents."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.request import Request
from sparkgen.errors import SparkgenError
from sparkgen.importing import Choices, import_all
from sparkgen.importing.naming import application_name, file_names
from sparkgen.importing.report import as_json, as_text
from sparkgen.usecases import git_files
from sparkgen.usecases.validate import examine
from sparkgen.writers.new_files import write_new

if TYPE_CHECKING:
    from sparkgen.importing import Result

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


@dataclass(frozen=True)
class ImportOptions:
    """The inputs, where their documents go, the format of the report, and what the inputs do not say.

    `directory`: "" for standard output; `force`: overwrite files in it; `report`: its format.
    """

    sources: tuple[str, ...]
    directory: str
    force: bool
    report: str
    keep_labels: bool
    name: str
    image: str
    spark_version: str


def convert(options: ImportOptions) -> int:
    """Import applications. Returns 1 if the report has findings, or if there is no application."""
    _check_name(options.name)
    stdin = Stdin()
    choices = Choices(options.name, options.image, options.spark_version, options.keep_labels)
    result = import_all(options.sources, choices, examine, stdin, git_files.has)
    if options.name and len(result.imported) > 1:
        raise SparkgenError(
            f"--name takes one application, but the input has {len(result.imported)}; leave out --name"
        )
    if result.problems and options.report != "json":
        show(result.problems, Request(options.sources), stdin, on_stdout=False)
    if options.directory:
        texts = (item.text for item in result.imported)
        files = dict(zip(file_names(result.imported), texts, strict=True))
        write_new(Path(options.directory), files, force=options.force)
    elif result.imported:
        output.data("---\n".join(item.text for item in result.imported))
    print_report(result, options.report)
    return int(result.has_findings or not result.imported)


REPORT = Option(
    "report",
    "--report",
    "Report: text (what needs your attention), full (every value), json (every value), or none.",
    choices=("text", "full", "json", "none"),
    default="text",
)

COMMAND = command(
    ImportOptions,
    convert,
    Option(
        "sources",
        "PATH",
        "YAML files, shell scripts, directories, - for standard input, or `-- spark-submit ...`.",
        many=True,
        required=True,
    ),
    Option(
        "directory",
        "--output-dir -o DIR",
        "Write one file per application, DIR/NAME.yaml, instead of printing all to standard output.",
    ),
    Option("force", "--force", "Overwrite files in DIR."),
    REPORT,
    Option(
        "keep_labels",
        "--keep-labels",
        "Keep the pod labels that kubeflow's operator sets (sparkoperator.k8s.io/...).",
    ),
    Option("name", "--name NAME", "Name of the application, if the input has only one."),
    Option("image", "--image IMAGE", "Image with Spark and the application."),
    Option("spark_version", "--spark-version VERSION", "Spark version in the image."),
)


def _check_name(name: str) -> None:
    if name and application_name(name) != name:
        raise SparkgenError(f"--name {name!r} is not a valid name; use for example {application_name(name)}")


def print_report(result: Result, form: str, done: str = "imported") -> None:
    """Print the report on standard error. `form`: its format; `done`: what was done."""
    if form == "json":
        output.data(as_json(result), sys.stderr)
    elif form != "none":
        output.complain(as_text(result, full=form == "full", done=done))
