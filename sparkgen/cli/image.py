"""Declares `sparkgen image`; imaging.py does its work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command

if TYPE_CHECKING:
    from sparkgen.cli.imaging import BuildOptions, ContextOptions

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


def _load_build() -> Work[BuildOptions]:
    from sparkgen.cli import imaging  # noqa: PLC0415 - not for every command's help

    return imaging.BuildOptions, imaging.build


def _load_context() -> Work[ContextOptions]:
    from sparkgen.cli import imaging  # noqa: PLC0415 - not for every command's help

    return imaging.ContextOptions, imaging.context


_PLATFORMS = (
    "Platforms, separated by commas. Default: this machine's platform, or with --push or --output: "
    "linux/amd64,linux/arm64."
)
COMMANDS = (
    command(
        _load_build,
        Option(
            "name", "NAME", "Name with which your nodes pull the image: REGISTRY/NAME:TAG.", required=True
        ),
        Option("push", "--push", "Push the image, and print its digest."),
        Option("platform", "--platform LIST", _PLATFORMS),
        Option(
            "builder",
            "--builder PROGRAM",
            "docker, podman or buildah. Default: the first one that is installed.",
        ),
        Option("output", "--output -o FILE", "Write an OCI archive instead of pushing."),
        Option("base", "--base IMAGE", "Your own base image, with Python 3.11 or newer."),
        name="build",
        help="Build the image; push it, or write it to a file.",
    ),
    command(
        _load_context,
        Option("directory", "DIR", "New folder to write to.", kind=Path, required=True),
        name="context",
        help="Write the folder that the image is built from, with its Dockerfile.",
    ),
)
