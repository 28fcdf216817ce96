"""`sparkgen runtime`: prints the ConfigMap with the runtime, or its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.errors import SparkgenError
from sparkgen.image.runtime_files import FOLDER
from sparkgen.spark_versions import COMPILED, SUGGESTED, scala_line

HELP = """Print the ConfigMap with the runtime, which `render` and `apply` write for documents that name none.

The ConfigMap contains the program of sparkgen's containers and the scheduler jar for one Scala version. Its
name ends with the digest of its content. You need this command with Helm, which cannot write the ConfigMap:
create it once in each namespace, and set `runtimeConfigMap` in the values to its name.

A release contains these files. A clone compiles them once, which needs Java 17 or 21 and a release of Spark
from PyPI. With --output, you make them on one machine for others, where the variable SPARKGEN_RUNTIME names
their folder.

The ConfigMap has more than 256 KiB, so `kubectl apply` needs --server-side.
"""
EXAMPLES = """\b
Examples:
  sparkgen runtime 4.3.0 -n team-a | kubectl apply --server-side -f -
  sparkgen runtime 4.3.0 --name      # for runtimeConfigMap
  sparkgen runtime --scala 2.13      # of another Scala version than Spark's usual one
  sparkgen runtime -o build/runtime  # files, for a machine without Java
"""


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """The version of Spark, or the Scala version, and the namespace; "" for what is not given.

    `output`: a folder for the files of all Scala versions.
    """

    version: str
    scala: str
    namespace: str
    only_name: bool
    output: str


def runtime(options: RuntimeOptions) -> None:
    """Print the ConfigMap of a Scala version as a manifest, or its name."""
    from sparkgen.usecases.runtime import files_of, manifests, write  # noqa: PLC0415 - not for --help

    if options.output:
        write(Path(options.output))
        output.note(f"wrote {options.output}; to use these files elsewhere, set {FOLDER} to their folder")
        return
    if options.version and options.scala:
        raise SparkgenError("give a version of Spark or --scala, not both")
    files = files_of(options.scala or scala_line(options.version or SUGGESTED))
    if options.only_name:
        output.write(f"{files.name}\n")
        return
    for manifest in manifests([(options.namespace or "default", files.name)]):
        output.data(manifest.text)


COMMAND = command(
    RuntimeOptions,
    runtime,
    Option("version", "SPARK_VERSION", f"The version of Spark (default {SUGGESTED})."),
    Option("scala", "--scala VERSION", "The Scala version, instead.", choices=tuple(COMPILED)),
    Option("namespace", "--namespace -n NAME", "Namespace of the ConfigMap (default: default)."),
    Option("output", "--output -o DIR", "Write the files of all Scala versions to this folder, instead."),
    Option("only_name", "--name", "Print only the name."),
)
