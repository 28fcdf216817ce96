"""`make release`: its wheel renders what its chart renders, its image is the runtime's, and all is listed."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest
import yaml

import release
from gotools import gotools
from sparkgen import __version__, contract

EXAMPLE = Path(__file__).parents[3] / "examples" / "python-pi" / "app.yaml"


def run(*command: str | Path, folder: Path | None = None) -> str:
    """The output of a command that succeeds."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of what is checked out."""
    folder = tmp_path_factory.mktemp("made") / "release"
    run(sys.executable, release.__file__, folder, "--dirty")
    return folder


def listed(path: Path) -> dict[str, str]:
    """Name -> version in a bill of materials."""
    bom = json.loads(path.read_text("utf-8"))
    assert bom["bomFormat"] == "CycloneDX"
    return {item["name"]: item["version"] for item in bom["components"]}


def test_the_checksums_hold_for_every_file(made: Path) -> None:
    """And no file is without one."""
    run("sha256sum", "--check", "--strict", release.SUMS, folder=made)
    named = {line.split()[1] for line in (made / release.SUMS).read_text("utf-8").splitlines()}
    assert named == {path.name for path in made.iterdir()} - {release.SUMS}


def test_the_wheel_renders_what_the_chart_renders(made: Path, tmp_path: Path) -> None:
    """The wheel alone, in an environment of its own, beside the packed chart: the same objects and run."""
    venv.create(tmp_path / "venv", with_pip=True)
    (wheel,) = made.glob("*.whl")
    run(tmp_path / "venv" / "bin" / "pip", "install", "--quiet", wheel)
    rendered = run(tmp_path / "venv" / "bin" / "sparkgen", "render", "-q", EXAMPLE, folder=tmp_path)
    chart = made / f"spark-app-{__version__}.tgz"
    template = (gotools.ensure("helm"), "template", "--no-hooks", "--namespace", "default", "-f", EXAMPLE)
    templated = run(*template, "python-pi", chart)
    assert kinds_and_names(templated) == kinds_and_names(rendered)


def kinds_and_names(text: str) -> list[tuple[str, str]]:
    """The objects; the tests of parity compare the rest."""
    return sorted((item["kind"], item["metadata"]["name"]) for item in yaml.safe_load_all(text) if item)


def test_the_image_is_the_runtimes_and_its_parts_are_listed(made: Path) -> None:
    """Under the name that documents have by default; the bill has Debian's packages and its own libraries."""
    (archive,) = made.glob("*.oci.tar")
    with tarfile.open(archive) as files:
        index = files.extractfile("index.json")
        assert index
        (manifest,) = json.load(index)["manifests"]
    assert contract.RUNTIME_IMAGE in manifest["annotations"].values()
    parts = listed(made / f"{archive.name.removesuffix('.oci.tar')}.cdx.json")
    assert {"python3", "libc6", "urllib3", "h2", "hpack", "hyperframe"} <= parts.keys()
    assert {"sparkgen-scheduler_2.12", "sparkgen-scheduler_2.13"} <= parts.keys()


def test_the_wheels_libraries_are_listed(made: Path) -> None:
    """All that pip installs with it, also for the commands that talk to a cluster; not itself."""
    (bill,) = made.glob("sparkgen-*-none-any.cdx.json")
    parts = listed(bill)
    assert {"typer", "PyYAML", "Jinja2", "jsonschema", "kubernetes"} <= parts.keys()
    assert "sparkgen" not in parts
