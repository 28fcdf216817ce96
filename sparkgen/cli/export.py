"""`sparkgen export`: converts documents to other tools' applications."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sparkgen.cli import output
from sparkgen.cli.import_ import REPORT, print_report
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, SOURCES
from sparkgen.cli.problems import valid_documents
from sparkgen.cli.request import Request
from sparkgen.errors import SparkgenError
from sparkgen.exporting.convert import Exported, Tool, export
from sparkgen.importing import Result
from sparkgen.writers.new_files import write_new

HELP = """Convert documents to applications of other tools: the inverse of `import`.

The tools are spark-submit (a script and pod templates), kubeflow's operator and Apache's operator. Nothing is
dropped silently: the report on standard error lists each value that the format cannot say, that has another
meaning in it, or that export had to choose. For each of these values, the report shows the line, the reason
and what to do. Exits 1 if the report lists any such value.
"""
EXAMPLES = """\b
Examples:
  sparkgen export app.yaml --to kubeflow > pi.yaml
  sparkgen export app.yaml --to spark-submit -o submit/     # pi.sh, and its pod templates
  sparkgen export apps/ -f prod.yaml --to apache -o out/
  sparkgen export app.yaml --to kubeflow --report json 2> report.json
"""


@dataclass(frozen=True, slots=True)
class ExportOptions(Request):
    """The documents, the tool, where the files go, and the report's format.

    `tool`: a value of Tool; `directory`: "" for standard output; `force`: overwrite files in it.
    """

    tool: str = ""
    force: bool = False
    report: str = "text"


def convert(options: ExportOptions) -> int:
    """Export documents. Returns 1 if one has errors, or if the report has findings."""
    documents = valid_documents(replace(options, local_files="present"))
    if documents is None:
        return 1
    exported = [export(document, Tool(options.tool)) for document in documents]
    if options.directory:
        write_new(Path(options.directory), _files(exported), force=options.force)
    else:
        _print(exported, Tool(options.tool))
    result = Result(tuple(item.report for item in exported))
    print_report(result, options.report, "exported")
    return int(result.has_findings)


def _files(exported: list[Exported]) -> dict[str, str]:
    """Returns all files by name. Raises SparkgenError if two applications have the same file."""
    files: dict[str, str] = {}
    for item in exported:
        for name, text in item.files.items():
            if name in files:
                raise SparkgenError(
                    f"{item.report.origin}: another document also becomes {name}; export one of them alone, "
                    "to another --output-dir"
                )
            files[name] = text
    return files


def _print(exported: list[Exported], tool: Tool) -> None:
    for item in exported:
        if len(item.files) > 1:
            names = ", ".join(item.files)
            raise SparkgenError(
                f"{item.report.origin}: {item.report.name} becomes several files ({names}); add -o DIR"
            )
    if tool is Tool.SPARK_SUBMIT and len(exported) > 1:
        raise SparkgenError(f"{len(exported)} documents become as many scripts; add -o DIR")
    output.data("---\n".join(item.report.text for item in exported))


COMMAND = command(
    ExportOptions,
    convert,
    SOURCES,
    *CHANGES,
    Option(
        "tool",
        "--to",
        "Tool that runs the application.",
        choices=tuple(tool.value for tool in Tool),
        required=True,
    ),
    Option("directory", "--output-dir -o DIR", "Write the files to DIR instead of standard output."),
    Option("force", "--force", "Overwrite files in DIR."),
    REPORT,
)
