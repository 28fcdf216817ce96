"""Finds the user's builder, and runs its commands that build and push an image."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkgen.document.configuration import IMAGE
from sparkgen.errors import SparkgenError
from sparkgen.image.context import TIMESTAMP
from sparkgen.image.pins import PLATFORMS, machine_architecture
from sparkgen.jsonvalue import decode
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import Progress, run

BUILDERS = ("docker", "podman", "buildah")
"""The supported builders; the first on the PATH is used."""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_PLATFORM = re.compile(r"linux/[a-z0-9]+(?:/v[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Plan:
    """The image to build. `output`: an OCI archive to write, or ""; `base`: "" for the Dockerfile's own."""

    name: str
    platforms: tuple[str, ...] = ()
    push: bool = False
    output: str = ""
    base: str = ""

    @property
    def index(self) -> bool:
        """Whether to build an index, which may contain several architectures."""
        return self.push or bool(self.output)


def planned(name: str, platforms: str, *, push: bool, output: str, base: str) -> Plan:
    """The plan for the options of a command. Raises SparkgenError if no builder could carry it out."""
    found = IMAGE.fullmatch(name)
    if found is None or not found["tag"] or found["digest"]:
        raise SparkgenError(
            f"{name!r} is not a name to push to: write REGISTRY/NAME:TAG, for example "
            "registry.example.com/sparkgen-runtime:1"
        )
    if push and output:
        raise SparkgenError(
            "--push and --output cannot be combined; to push the file later: skopeo copy --all"
        )
    if push and found["repository"].partition("/")[0].partition(":")[0].endswith(".invalid"):
        raise SparkgenError(
            f"cannot push to {name}: no registry can have a name that ends with .invalid; use one of yours"
        )
    if base and (not (known := IMAGE.fullmatch(base)) or not (known["tag"] or known["digest"])):
        raise SparkgenError(f"--base {base!r} must be an image with its registry, and a tag or a digest")
    chosen = tuple(part.strip() for part in platforms.split(",")) if platforms else ()
    wrong = [part for part in chosen if not _PLATFORM.fullmatch(part)]
    if wrong:
        raise SparkgenError(
            f"--platform {wrong[0]!r} is unknown: write {','.join(PLATFORMS)}, or one of them"
        )
    plan = Plan(name, chosen, push, output, base)
    if len(chosen) > 1 and not plan.index:
        raise SparkgenError(
            "an image for several platforms must be pushed or written to a file: add --push or --output"
        )
    return Plan(name, chosen or (PLATFORMS if plan.index else ()), push, output, base)


def find(name: str, environment: Mapping[str, str]) -> str:
    """The builder of this name, or for "" the first on the PATH. Raises CannotRun if there is none."""
    wanted = (name,) if name else BUILDERS
    for builder in wanted:
        if shutil.which(builder, path=environment.get("PATH")):
            return builder
    if name:
        raise CannotRun(f"there is no {name} on the PATH: install it, or omit --builder")
    raise CannotRun(
        f"there is no builder on the PATH ({', '.join(BUILDERS)}): install one, or write the build context "
        "for another one with: sparkgen image context DIR"
    )


def build(builder: str, plan: Plan, context: Path, environment: Mapping[str, str], progress: Progress) -> str:
    """Build the image, and push it or write it to its file. Returns its digest if it was pushed, else "".

    `context` is the folder of `context.write`; the builder writes the digest to a file beside it. Raises
    CannotRun if a command fails, or if the builder reports no digest.
    """
    notes = context.with_name("digest")
    variables = {**environment, "SOURCE_DATE_EPOCH": str(TIMESTAMP)}
    made = docker(plan, context, notes) if builder == "docker" else podman(builder, plan, context, notes)
    for title, command in made:
        try:
            run(progress, title, command, environment=variables)
        except CannotRun as error:
            raise CannotRun(f"{error}\n{advice(str(error), builder, plan)}".rstrip()) from None
    return digest(notes.read_text()) if plan.push else ""


Step = tuple[str, Sequence[str]]


def saved(builder: str, name: str, archive: Path) -> list[Step]:
    """The commands that write a local image of the builder to a file, in the format of docker save.

    All tools that load images read this format, and take the image's whole name from it.
    """
    commands: dict[str, list[str]] = {
        "docker": ["docker", "save", f"--output={archive}", name],
        "podman": ["podman", "save", "--format=docker-archive", f"--output={archive}", name],
        "buildah": ["buildah", "push", name, f"docker-archive:{archive}:{name}"],
    }
    return [(f"saving {name}", commands[builder])]


def docker(plan: Plan, context: Path, notes: Path) -> list[Step]:
    """The commands of Docker: buildx, which builds all platforms at once."""
    where = [f"--platform={','.join(plan.platforms)}"] if plan.platforms else []
    if plan.push:
        where += ["--push", f"--metadata-file={notes}"]
    else:
        # --provenance=false: otherwise the image may be an index, and `docker save` then writes a file in
        # which other tools miss manifests ("content digest ... not found").
        local = ["--load", "--provenance=false"]
        where += [f"--output=type=oci,dest={plan.output}"] if plan.output else local
    base = [f"--build-arg=BASE={plan.base}"] if plan.base else []
    command = ["docker", "buildx", "build", *where, *base, f"--tag={plan.name}", str(context)]
    return [(f"building {plan.name} with docker buildx", command)]


def podman(builder: str, plan: Plan, context: Path, notes: Path) -> list[Step]:
    """The commands of podman or buildah: build a manifest list with an image for each platform, then push it.

    Without an index, it is one build command.
    """
    base = [f"--build-arg=BASE={plan.base}"] if plan.base else []
    # Buildah 1.28, which Debian 12 has, does not know the platform of its own machine in `FROM --platform=`.
    own = f"--build-arg=BUILDPLATFORM=linux/{machine_architecture()}"
    common = [builder, "build", f"--timestamp={TIMESTAMP}", own, *base]
    if not plan.index:
        where = [f"--platform={plan.platforms[0]}"] if plan.platforms else []
        return [
            (f"building {plan.name} with {builder}", [*common, *where, f"--tag={plan.name}", str(context)])
        ]
    # Not plan.name: a manifest list of this name may exist from an earlier build, and would be extended.
    local = f"localhost/sparkgen-{context.parent.name.lower().strip('._-')}"
    there = f"docker://{plan.name}" if plan.push else f"oci-archive:{plan.output}:{plan.name}"
    where = [f"--platform={','.join(plan.platforms)}", f"--manifest={local}"]
    push = [builder, "manifest", "push", "--all", "--format=oci"]
    push += [f"--digestfile={notes}"] if plan.push else []
    title = f"pushing {plan.name}" if plan.push else f"writing {plan.output}"
    return [
        (f"building {plan.name} with {builder}", [*common, *where, str(context)]),
        (title, [*push, local, there]),
        ("removing the builder's own copy", [builder, "manifest", "rm", local]),
    ]


def digest(text: str) -> str:
    """The digest in a builder's file: a digest alone, or buildx's metadata. Raises CannotRun without one."""
    if text.lstrip().startswith("{"):
        text = str(decode(text).get("containerimage.digest", ""))
    found = _DIGEST.fullmatch(text.strip())
    if found is None:
        raise CannotRun(
            "the image was pushed, but the builder does not report its digest: look it up in the registry"
        )
    return found[0]


_ADVICE = (
    (r"multi-platform build is not supported|does not support .*multiple platforms|oci exporter", "several"),
    (r"is not a docker command|unknown command.*buildx|unknown flag", "buildx"),
    (r"denied|unauthori[sz]ed|authentication required|no basic auth|forbidden", "login"),
    (
        r"cannot connect to the docker daemon|permission denied.*docker.sock|connection refused.*podman",
        "daemon",
    ),
    (r"exec format error", "emulated"),
    (r"no space left", "space"),
    (r"no such host|network is unreachable|i/o timeout|server gave http response", "network"),
)


def advice(said: str, builder: str, plan: Plan) -> str:
    """What to do about a builder's error; "" for an unknown error."""
    registry = plan.name.partition("/")[0]
    words = {
        "several": "next: run docker buildx create --use to get a builder for several architectures, "
        "or pass one --platform",
        "buildx": "next: install Docker's buildx plugin, or choose podman or buildah with --builder",
        "login": f"next: run {builder} login {registry} with an account that may push {plan.name}",
        "daemon": f"next: start {builder}, or get permission to use it",
        "emulated": "next: use a base image that also has the architecture of this machine",
        "space": "next: free some space for the builder's storage",
        "network": f"next: check that this machine can reach {registry} and the base image's registry",
    }
    for pattern, name in _ADVICE:
        if re.search(pattern, said, re.IGNORECASE):
            return words[name]
    return ""
