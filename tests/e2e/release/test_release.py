"""`make release`: its image is the runtime's, and all is listed. What is in it works: test_install.py."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

from succeeding import run

from release import archives, contents
from release.__main__ import SUMS
from sparkgen import contract


def listed(path: Path) -> dict[str, str]:
    """Name -> version in a bill of materials."""
    bom = json.loads(path.read_text("utf-8"))
    assert bom["bomFormat"] == "CycloneDX"
    return {item["name"]: item["version"] for item in bom["components"]}


def test_what_make_release_writes(made: Path) -> None:
    """Every part, listed. One test, because it takes half a minute to make a release."""
    every_file_has_its_checksum(made)
    the_image_is_the_runtimes(made)
    the_wheels_libraries_are_listed(made)


def every_file_has_its_checksum(made: Path) -> None:
    """In the list, as sha256sum reads it."""
    run("sha256sum", "--check", "--strict", SUMS, folder=made)
    named = {line.split()[1] for line in (made / SUMS).read_text("utf-8").splitlines()}
    assert named == {path.name for path in made.iterdir()} - {SUMS}


def the_image_is_the_runtimes(made: Path) -> None:
    """Under the name that documents have by default, small, and complete for both architectures.

    The bill has Debian's packages and its own libraries.
    """
    (archive,) = made.glob("*.oci.tar")
    with tarfile.open(archive) as files:
        (manifest,) = archives.index(files)["manifests"]
    assert contract.RUNTIME_IMAGE in manifest["annotations"].values()
    print(contents.check(archive))  # noqa: T201 - the sizes (pytest -s)
    parts = listed(made / f"{archive.name.removesuffix('.oci.tar')}.cdx.json")
    assert {"python3-minimal", "libc6", "urllib3", "h2", "hpack", "hyperframe"} <= parts.keys()
    assert {"sparkgen-scheduler_2.12", "sparkgen-scheduler_2.13"} <= parts.keys()


def the_wheels_libraries_are_listed(made: Path) -> None:
    """All that pip installs with it, also for the commands that talk to a cluster; not itself."""
    (bill,) = made.glob("sparkgen-*-none-any.cdx.json")
    parts = listed(bill)
    assert {"typer", "PyYAML", "Jinja2", "jsonschema", "kubernetes"} <= parts.keys()
    assert "sparkgen" not in parts
