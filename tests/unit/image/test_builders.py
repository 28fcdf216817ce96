"""The user's builder: which one, what it is told, and what its errors mean. The builders are stand-ins."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.image import builders, context, loading, pins
from sparkgen.local.errors import CannotRun

# The fixture that calls the command line.
from tests.unit.cli.conftest import Cli, cli

__all__ = ["cli"]

NAME = "registry.example.com/team/sparkgen-runtime:1"
DIGEST = "sha256:" + "5" * 64
FAKE = f"""#!{sys.executable}
import json, os, pathlib, sys
with open(os.environ["CALLS"], "a") as file:
    print(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]), file=file)
if said := os.environ.get(f"FAIL_{{os.path.basename(sys.argv[0])}}", os.environ.get("FAIL")):
    print(said, file=sys.stderr)
    sys.exit(1)
for argument in sys.argv:
    option, _, path = argument.partition("=")
    if option == "--digestfile":
        pathlib.Path(path).write_text("{DIGEST}")
    if option == "--metadata-file":
        pathlib.Path(path).write_text(json.dumps({{"containerimage.digest": "{DIGEST}"}}))
"""


@pytest.fixture
def image(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """`sparkgen image build` with stand-ins on the PATH, and without compiling a jar."""
    for name in (*builders.BUILDERS, *(tool.program for tool in loading.TOOLS.values())):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(FAKE)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setattr(context, "libraries", lambda *_: None)
    monkeypatch.setattr(context, "scheduler_jars", lambda *_: [])
    return lambda *arguments: cli("image", "build", *arguments)


def calls() -> list[list[str]]:
    """What the stand-ins were called with; folders of the moment are left out."""
    lines = [json.loads(line) for line in Path(os.environ["CALLS"]).read_text().splitlines()]
    return [[word for word in line if "/sparkgen-image-" not in word] for line in lines]


def test_docker_makes_and_pushes_both_at_once(image: Cli) -> None:
    """The output is the name with the digest; what to do with it is beside it."""
    result = image("--push", NAME)
    assert (result.code, result.out) == (0, f"{NAME}@{DIGEST}\n")
    assert f"  runtimeImage: {NAME}@{DIGEST}\n" in result.err
    assert ".sparkgen.yaml" in result.err
    (call,) = calls()
    assert call[:3] == ["docker", "buildx", "build"]
    assert {"--platform=linux/amd64,linux/arm64", "--push", f"--tag={NAME}"} <= set(call)


@pytest.mark.parametrize("builder", ["podman", "buildah"])
def test_podman_and_buildah_make_a_list_and_push_all_of_it(image: Cli, builder: str) -> None:
    """Under a name of their own, which is removed afterwards: a list of that name would be added to."""
    result = image("--push", "--builder", builder, "--base", "registry.example.com/python:3", NAME)
    assert (result.code, result.out) == (0, f"{NAME}@{DIGEST}\n")
    build, push, remove = calls()
    assert {"--build-arg=BASE=registry.example.com/python:3", "--platform=linux/amd64,linux/arm64"} <= set(
        build
    )
    assert f"--build-arg=BUILDPLATFORM=linux/{pins.machine_architecture()}" in build
    (local,) = (word.partition("=")[2] for word in build if word.startswith("--manifest="))
    assert local.startswith("localhost/")
    assert push == [builder, "manifest", "push", "--all", "--format=oci", local, f"docker://{NAME}"]
    assert remove == [builder, "manifest", "rm", local]


def test_a_file_instead_of_a_registry(image: Cli) -> None:
    """For what has no network; both architectures are in it."""
    assert image("-o", "x.tar", "--builder", "buildah", NAME).out == f"{NAME}\n"
    assert calls()[1][-1] == f"oci-archive:x.tar:{NAME}"
    Path(os.environ["CALLS"]).unlink()
    assert image("-o", "x.tar", NAME).code == 0
    assert "--output=type=oci,dest=x.tar" in calls()[0]


def test_here_alone(image: Cli) -> None:
    """For this machine's architecture, whatever the name."""
    result = image("runtime.sparkgen.invalid/sparkgen-runtime:1")
    assert (result.code, {"--load", "--provenance=false"} <= set(calls()[0])) == (0, True)
    assert not [word for word in calls()[0] if word.startswith("--platform")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sparkgen-runtime:1"], "REGISTRY/NAME:TAG"),
        (["registry.example.com/x"], "REGISTRY/NAME:TAG"),
        (["registry.example.com/X:1"], "REGISTRY/NAME:TAG"),
        (["--push", f"{NAME}@{DIGEST}"], "REGISTRY/NAME:TAG"),
        (["--push", "registry.example.com/x:1 --tag=evil"], "REGISTRY/NAME:TAG"),
        (["--push", "runtime.sparkgen.invalid/sparkgen-runtime:1"], "use one of yours"),
        (["--push", "-o", "x", NAME], "cannot be combined"),
        (["--platform", "windows/amd64", NAME], "is unknown: write"),
        (["--platform", "linux/amd64,linux/arm64", NAME], "add --push or --output"),
        (["--builder", "kaniko", NAME], "use one of docker, podman, buildah"),
        (["--base", "python", NAME], "--base"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_made(image: Cli, arguments: list[str], says: str) -> None:
    """Exit 2, and no builder was called."""
    result = image(*arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert not Path(os.environ["CALLS"]).exists()


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("denied: requested access to the resource is denied", "docker login registry.example.com"),
        ("unauthorized: authentication required", "docker login registry.example.com"),
        ("ERROR: Multi-platform build is not supported for the docker driver.", "docker buildx create --use"),
        ("docker: 'buildx' is not a docker command.", "buildx plugin"),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "start docker"),
        ("write /x: no space left on device", "free some space"),
        ("dial tcp: lookup registry.example.com: no such host", "check that this machine can reach"),
    ],
)
def test_errors_of_builders_have_a_next_step(
    image: Cli, monkeypatch: pytest.MonkeyPatch, said: str, step: str
) -> None:
    """Beside their own words."""
    monkeypatch.setenv("FAIL", said)
    result = image("--push", NAME)
    assert (result.code, result.out) == (1, "")
    assert said in result.err
    assert step in result.err


def test_the_first_builder_that_is_there(tmp_path: Path) -> None:
    """Docker, Podman, Buildah; without one there is another way."""
    for name in reversed(builders.BUILDERS):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        assert builders.find("", {"PATH": str(tmp_path)}) == name
    with pytest.raises(CannotRun, match="sparkgen image context DIR"):
        builders.find("", {"PATH": str(tmp_path / "empty")})
    with pytest.raises(CannotRun, match="there is no podman"):
        builders.find("podman", {"PATH": str(tmp_path / "empty")})


def test_without_java_it_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before a Spark is fetched."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("SPARKGEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(context, "libraries", lambda *_: None)
    result = cli("image", "context", "out")
    assert (result.code, result.out) == (1, "")
    assert "Spark needs Java 17 or 21" in result.err
    assert not Path("out").exists()
    assert not list(Path().glob(".sparkgen-*"))


def test_a_folder_that_is_there_is_left_alone(cli: Cli) -> None:
    """Somebody's work may be in it."""
    Path("there").mkdir()
    assert cli("image", "context", "there").code == 2


def test_a_digest_that_is_none_is_not_believed() -> None:
    """It goes into a document."""
    assert builders.digest(f"{DIGEST}\n") == DIGEST
    with pytest.raises(SparkgenError, match="does not report its digest"):
        builders.digest("latest")
    with pytest.raises(SparkgenError, match="does not report its digest"):
        builders.digest("{}")
