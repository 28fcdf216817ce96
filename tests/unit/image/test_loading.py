"""`sparkgen image build --load`: what the tools of local clusters are told, and what their errors mean."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Cli, cli
from tests.unit.image.test_builders import NAME, image

__all__ = ["cli", "image"]


def calls() -> list[list[str]]:
    """What the stand-ins were called with; FILE is the archive, and the first one is the build."""
    lines = [json.loads(line) for line in Path(os.environ["CALLS"]).read_text().splitlines()]
    archives = {word.partition("=")[2] for line in lines for word in line if word.startswith("--output=")}
    archives |= {word.split(":")[1] for line in lines for word in line if word.startswith("docker-archive:")}
    (archive,) = archives
    return [[word.replace(archive, "FILE") for word in line] for line in lines]


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["kind"], ["kind", "load", "image-archive", "FILE"]),
        (["kind", "--cluster", "dev"], ["kind", "load", "image-archive", "--name=dev", "FILE"]),
        (["k3d"], ["k3d", "image", "import", "FILE"]),
        (["k3d", "--cluster", "dev"], ["k3d", "image", "import", "--cluster=dev", "FILE"]),
        (["minikube"], ["minikube", "image", "load", "FILE"]),
        (["minikube", "--cluster", "dev"], ["minikube", "image", "load", "--profile=dev", "FILE"]),
        (["containerd"], ["ctr", "--namespace=k8s.io", "images", "import", "FILE"]),
    ],
)
def test_each_tool_gets_the_file_as_it_wants_it(image: Cli, arguments: list[str], call: list[str]) -> None:
    """The output is the name, which documents then have; no registry is asked."""
    result = image("--load", *arguments, NAME)
    assert (result.code, result.out) == (0, f"{NAME}\n")
    assert f"  runtimeImage: {NAME}\n" in result.err
    build, save, load = calls()
    assert {"--load", "--provenance=false", f"--tag={NAME}"} <= set(build)
    assert save == ["docker", "save", "--output=FILE", NAME]
    assert load == call


@pytest.mark.parametrize(
    ("builder", "save"),
    [
        ("podman", ["podman", "save", "--format=docker-archive", "--output=FILE", NAME]),
        ("buildah", ["buildah", "push", NAME, f"docker-archive:FILE:{NAME}"]),
    ],
)
def test_other_builders_write_the_same_format(image: Cli, builder: str, save: list[str]) -> None:
    """That of docker save: an OCI archive keeps only the tag where ctr looks for a name."""
    assert image("--load", "kind", "--builder", builder, NAME).code == 0
    assert calls()[1] == save


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--load", "docker", NAME], "unknown --load 'docker'; use one of kind, k3d, minikube, containerd"),
        (["--load", "kind", "--push", NAME], "--load and --push cannot be combined"),
        (["--load", "kind", "-o", "x.tar", NAME], "--load and --output cannot be combined"),
        (["--load", "kind", "registry.example.com/x:latest"], "another tag than latest"),
        (["--load", "containerd", "--cluster", "dev", NAME], "--cluster does not apply to --load containerd"),
        (["--cluster", "dev", NAME], "--cluster needs --load"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_built(image: Cli, arguments: list[str], says: str) -> None:
    """Exit 2, and no program was called."""
    result = image(*arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert not Path(os.environ["CALLS"]).exists()


def test_a_tool_that_is_missing_is_told_before_the_build(image: Cli, tmp_path: Path) -> None:
    """Compiling and building take minutes."""
    (tmp_path / "bin" / "kind").unlink()
    result = image("--load", "kind", NAME)
    assert (result.code, result.out) == (1, "")
    assert "there is no kind on the PATH: install it, or omit --load" in result.err
    assert not Path(os.environ["CALLS"]).exists()


@pytest.mark.parametrize(
    ("tool", "program", "said", "step"),
    [
        ("kind", "kind", 'ERROR: no nodes found for cluster "kind"', "`kind get clusters` lists them"),
        ("k3d", "k3d", "FATA[0000] failed to get cluster k3s-default", "`k3d cluster list` lists them"),
        ("minikube", "minikube", 'Profile "dev" not found.', "`minikube profile list` lists them"),
        (
            "containerd",
            "ctr",
            'ctr: failed to dial "/run/containerd/containerd.sock": permission denied',
            "as a user that may use ctr, such as root",
        ),
        (
            "containerd",
            "ctr",
            'ctr: failed to dial "/run/containerd/containerd.sock": no such file or directory',
            "set CONTAINERD_ADDRESS",
        ),
    ],
)
def test_errors_of_tools_have_a_next_step(
    image: Cli, monkeypatch: pytest.MonkeyPatch, tool: str, program: str, said: str, step: str
) -> None:
    """Beside their own words; the name is not printed, because the image is on no node."""
    monkeypatch.setenv(f"FAIL_{program}", said)
    result = image("--load", tool, NAME)
    assert (result.code, result.out) == (1, "")
    assert said in result.err
    assert step in result.err
