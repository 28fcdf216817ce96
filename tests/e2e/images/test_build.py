"""What building an image leaves on the machine: the image, and nothing else."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from cluster import images, ociimage, requirements
from common.cachedir import ToolError

pytestmark = pytest.mark.own_cluster

DOCKERFILE = """\
FROM base
RUN echo made >/made
COPY file /copied/
ENV COLOUR=blue
USER 7
"""
PLACES = (
    *("/etc/containers", "/etc/cni", "/run/containers", "/run/libpod", "/run/user", "/var/lib/cni"),
    *("/var/lib/containers", "~/.config/containers", "~/.local/share/containers", "~/.docker"),
)
"""Where builders of images are known to write."""

FOLDERS = ("/etc", "/run", "/run/lock", "/var/cache", "/var/lib", "/var/log", "/var/tmp", "~")  # noqa: S108
"""Where nothing new may appear. (Clusters come and go while this runs: theirs do not count.)"""


def machine() -> dict[str, tuple[int, int]]:
    """The files that a builder of images might leave behind: size, and time of the last change in ns."""
    near = [path for folder in FOLDERS for path in Path(folder).expanduser().glob("*")]
    deep = [path for place in PLACES for path in Path(place).expanduser().rglob("*")]
    found = {}
    for path in (*(path for path in near if not path.name.startswith("sparkgen-")), *deep):
        status = path.lstat()
        found[str(path)] = (status.st_size, status.st_mtime_ns) if path in deep else (0, 0)
    return found


def make_context(folder: Path, dockerfile: str) -> Path:
    """A folder to build from."""
    folder.mkdir()
    (folder / "Dockerfile").write_text(dockerfile)
    (folder / "file").write_text("copied")
    return folder


def test_a_build_is_a_layer_on_its_base_and_leaves_nothing_else(tmp_path: Path) -> None:
    """The base's layer stays as it is, the new one holds what is new, and the machine is as before."""
    requirements.check()
    below = images.busybox()
    before = machine()
    mounts = Path("/proc/self/mounts").read_text()
    target = tmp_path / "built"
    target.mkdir()
    image = images.build(make_context(tmp_path / "context", DOCKERFILE), below, target)
    assert machine() == before
    assert Path("/proc/self/mounts").read_text() == mounts
    assert [path.name for path in target.iterdir()] == ["layer.tar"]
    assert image.layers[:-1] == below.layers
    own = image.layers[-1]
    assert own == ociimage.layer(target / "layer.tar")
    with tarfile.open(target / "layer.tar") as layer:
        files = {m.name: m.mtime for m in layer if m.isfile()}
    assert (files["made"], files["copied/file"]) == (images.TIMESTAMP, images.TIMESTAMP)
    assert "bin/busybox" not in files, "what the base has is not there again"
    assert image.config["User"] == "7"
    assert "COLOUR=blue" in image.config["Env"]
    assert "PATH=/bin" in image.config["Env"], "the base's environment stays"


def test_a_build_that_fails_says_why_and_leaves_nothing_else(tmp_path: Path) -> None:
    """The Dockerfile's own words are in the message."""
    requirements.check()
    before = machine()
    target = tmp_path / "built"
    target.mkdir()
    context = make_context(tmp_path / "context", "FROM base\nRUN ls /nowhere-at-all\n")
    with pytest.raises(ToolError, match="/nowhere-at-all: No such file"):
        images.build(context, images.busybox(), target)
    assert machine() == before
