"""`sparkgen schema`: prints the document's schema, or writes the schemas of the rendered kinds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sparkgen.cli.option_table import Option, plain_command
from sparkgen.cli.output import data, note
from sparkgen.errors import SparkgenError
from sparkgen.schema import bundle, manifests
from sparkgen.writers.own_files import put

HELP = """Print the JSON Schema of the document as one file, for editors and other tools.

To use the schema in an editor with a YAML language server, begin documents with the line
`# yaml-language-server: $schema=spark-application.schema.json`.

With `--kubernetes VERSION -o DIR`, the command writes the schemas of the kinds that sparkgen renders to DIR,
except of Volcano's PodGroup. The schemas are strict, and the folder has the layout that kubeconform needs.
The command prints how to call kubeconform. It needs no network.
"""
EXAMPLES = """\b
Examples:
  sparkgen schema > spark-application.schema.json
  sparkgen schema --kubernetes 1.33 -o build/schemas
"""


def schema(kubernetes: Sequence[str], directory: Path | None) -> None:
    """Print the schema with everything that it refers to, or write those of these versions of Kubernetes."""
    if kubernetes:
        _write_kubernetes(kubernetes, directory)
        return
    if directory is not None:
        raise SparkgenError(
            "-o needs --kubernetes VERSION; add it, or use `> FILE` for the document's schema"
        )
    import json  # noqa: PLC0415 - one command needs it

    data(json.dumps(bundle(), indent=2, ensure_ascii=False) + "\n")


COMMAND = plain_command(
    schema,
    Option(
        "kubernetes",
        "--kubernetes VERSION",
        "Write the schemas of this Kubernetes version, for example 1.33. Repeatable.",
        many=True,
    ),
    Option("directory", "--output-dir -o DIR", "Folder to write the schemas to.", kind=Path),
)


def _write_kubernetes(versions: Sequence[str], directory: Path | None) -> None:
    if directory is None:
        raise SparkgenError("--kubernetes writes many files; add -o DIR")
    files = {path: text for version in versions for path, text in manifests.files(version).items()}
    put(directory, files, lambda text: manifests.COMMENT in text)
    last = manifests.full_version(versions[-1])
    note(
        f"wrote {len(files)} schemas to {directory}; next: kubeconform -strict -kubernetes-version {last} "
        f"-schema-location {directory} -skip Kustomization,PodGroup RENDERED"
    )
