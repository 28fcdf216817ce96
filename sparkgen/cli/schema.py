"""`sparkgen schema`: the schema of the document, and those of what is rendered from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparkgen.cli.output import data, note
from sparkgen.errors import SparkgenError

SUMMARY = "Print the document's JSON Schema, for editors, or write Kubernetes' schemas."
HELP = """Print the JSON Schema of the document: one file, for editors and other checkers.

An editor with a YAML language server uses it in every document that begins with the line
`# yaml-language-server: $schema=spark-application.schema.json`.

With `--kubernetes VERSION -o DIR`, write Kubernetes' own schemas of all kinds that sparkgen renders into DIR,
strict and as kubeconform reads them, and say how to call it. No network is needed.
"""
EXAMPLES = """\b
Examples:
  sparkgen schema > spark-application.schema.json
  sparkgen schema --kubernetes 1.33 -o build/schemas
"""


def command(
    kubernetes: Annotated[
        list[str] | None,
        typer.Option(
            "--kubernetes",
            metavar="VERSION",
            help="Write the schemas of this Kubernetes, such as 1.33; may be repeated.",
        ),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--output-dir", "-o", metavar="DIR", help="The folder to write them into.")
    ] = None,
) -> None:
    """Print the schema with all that it refers to, or write those of Kubernetes."""
    if kubernetes:
        _write_kubernetes(kubernetes, directory)
        return
    if directory is not None:
        raise SparkgenError(
            "-o is for Kubernetes' schemas: give --kubernetes VERSION, too, or `> FILE` instead"
        )
    import json  # noqa: PLC0415 - one command needs it

    from sparkgen.schema import bundle  # noqa: PLC0415

    data(json.dumps(bundle(), indent=2, ensure_ascii=False) + "\n")


def _write_kubernetes(versions: list[str], directory: Path | None) -> None:
    from sparkgen.schema import manifests  # noqa: PLC0415 - one command needs it
    from sparkgen.writers.own_files import put  # noqa: PLC0415

    if directory is None:
        raise SparkgenError("--kubernetes writes many files: say where to with -o DIR")
    files = {path: text for version in versions for path, text in manifests.files(version).items()}
    put(directory, files, lambda text: manifests.COMMENT in text)
    last = manifests.full_version(versions[-1])
    note(
        f"{len(files)} schemas in {directory}; next: kubeconform -strict -kubernetes-version {last} "
        f"-schema-location {directory} -skip Kustomization RENDERED"
    )
