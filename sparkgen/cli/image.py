"""Declares `sparkgen image` for typer; imaging.py does its work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SUMMARY = "Build the runtime image, and push it to your registry."
HELP = """Build the runtime image, and push it to your registry.

The image contains the allocator and the scheduler jar. `build` uses Docker (buildx), Podman or Buildah, and
prints the image's name, which you copy into .sparkgen.yaml or a document. With --push, the name includes the
digest. `context` writes a folder with a Dockerfile, for any other builder.

The first call compiles the scheduler jar: this needs Java 17 or 21, and downloads two Spark releases from
PyPI.
"""
EXAMPLES = """\b
Examples:
  sparkgen image build --push registry.example.com/sparkgen-runtime:1
  sparkgen image build --push --platform linux/arm64 registry.example.com/sparkgen-runtime:1
  sparkgen image build --output runtime.oci.tar registry.example.com/sparkgen-runtime:1
  sparkgen image build runtime.sparkgen.invalid/sparkgen-runtime:1   # local only, for kind load docker-image
  sparkgen image context build/runtime
"""


def build(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name with which your nodes pull the image: REGISTRY/NAME:TAG.",
            show_default=False,
        ),
    ],
    push: Annotated[bool, typer.Option("--push", help="Push the image, and print its digest.")] = False,
    platform: Annotated[
        str,
        typer.Option(
            "--platform",
            metavar="LIST",
            help=(
                "Platforms, separated by commas. Default: this machine's platform, or with --push or "
                "--output: linux/amd64,linux/arm64."
            ),
            show_default=False,
        ),
    ] = "",
    builder: Annotated[
        str,
        typer.Option(
            "--builder",
            metavar="PROGRAM",
            help="docker, podman or buildah. Default: the first one that is installed.",
            show_default=False,
        ),
    ] = "",
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write an OCI archive instead of pushing.",
            show_default=False,
        ),
    ] = "",
    base: Annotated[
        str,
        typer.Option(
            "--base",
            metavar="IMAGE",
            help="Your own base image, with Python 3.11 or newer.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Build the image; push it, or write it to a file."""
    from sparkgen.cli import imaging  # noqa: PLC0415 - one command needs it
    from sparkgen.image import builders  # noqa: PLC0415

    plan = builders.planned(name, platform, push=push, output=output, base=base)
    imaging.build(plan, builder)


def context(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="New folder to write to.")],
) -> None:
    """Write the folder that the image is built from, with its Dockerfile."""
    from sparkgen.cli import imaging  # noqa: PLC0415 - one command needs it

    imaging.context(directory)


COMMANDS = (build, context)
