"""`sparkgen image`: writes the build context, calls the builder, and prints the image's name and its use."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command, plain_command
from sparkgen.errors import SparkgenError
from sparkgen.image import builders, loading
from sparkgen.image import context as making
from sparkgen.local.view import Plain
from sparkgen.writers.repository import refuse_way_out

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
  sparkgen image build --load kind --cluster dev local.example.com/sparkgen-runtime:1
  sparkgen image context build/runtime
"""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The image, and how to build it. `output`: the file of an OCI archive; "" for what is not given.

    `load`: the tool of a local cluster, such as kind; `cluster`: its name, "" for the tool's default.
    """

    name: str
    push: bool
    platform: str
    builder: str
    output: str
    base: str
    load: str
    cluster: str


def build(options: BuildOptions) -> None:
    """Build the image. Prints its name, with the digest if there is one, and the next step."""
    plan = builders.planned(
        options.name, options.platform, push=options.push, output=options.output, base=options.base
    )
    builder = options.builder
    if builder and builder not in builders.BUILDERS:
        raise SparkgenError(f"unknown --builder {builder!r}; use one of {', '.join(builders.BUILDERS)}")
    loading.check(options.load, options.cluster, plan, os.environ)
    program = builders.find(builder, os.environ)
    view = Plain(sys.stderr)
    with tempfile.TemporaryDirectory(prefix="sparkgen-image-") as work:
        folder = Path(work, "context")
        making.write(folder, os.environ, view)
        digest = builders.build(program, plan, folder, os.environ, view)
        if options.load:
            steps = partial(builders.saved, program, plan.name)
            loading.load(options.load, options.cluster, steps, Path(work), view)
    image = f"{plan.name}@{digest}" if digest else plan.name
    output.write(f"{image}\n")
    output.note(_next_step(plan, image, loaded=bool(options.load)))


def context(directory: Path) -> None:
    """Write the context into a new folder, as a whole or not at all."""
    if directory.exists():
        raise SparkgenError(f"{directory} exists already; give a new folder")
    refuse_way_out(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sparkgen-", dir=directory.parent) as work:
        staged = Path(work, "context")
        making.write(staged, os.environ, Plain(sys.stderr))
        staged.rename(directory)
    word = shlex.quote(str(directory))
    output.note(f"wrote {directory}; next: docker build -t REGISTRY/sparkgen-runtime:1 {word}")


def _next_step(plan: builders.Plan, image: str, *, loaded: bool) -> str:
    if plan.output:
        return f"wrote {plan.output}; next: skopeo copy --all oci-archive:{plan.output} docker://{plan.name}"
    if not plan.push and not loaded:
        return "the image is in the builder's local storage; to push it to a registry, add --push"
    return (
        "set it for all documents of a repository, in .sparkgen.yaml at its root:\n"
        f"  runtimeImage: {image}\n"
        "or in a document:\n"
        "  spec:\n"
        f"    runtimeImage: {image}"
    )


_PLATFORMS = (
    "Platforms, separated by commas. Default: this machine's platform, or with --push or --output: "
    "linux/amd64,linux/arm64."
)
COMMANDS = (
    command(
        BuildOptions,
        build,
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
        Option(
            "load",
            "--load TOOL",
            "Load the image onto the nodes of a local cluster, with its tool: "
            "kind, k3d, minikube, or containerd (ctr) on a node.",
        ),
        Option("cluster", "--cluster NAME", "Cluster or profile for --load. Default: the tool's own."),
        Option("base", "--base IMAGE", "Your own base image, with Python 3.11 or newer."),
        name="build",
        help="Build the image; push it, load it into a local cluster, or write it to a file.",
    ),
    plain_command(
        context,
        Option("directory", "DIR", "New folder to write to.", kind=Path, required=True),
        name="context",
        help="Write the folder that the image is built from, with its Dockerfile.",
    ),
)
