"""`make release`: everything that a release consists of, in one folder; nothing is pushed anywhere.

The wheel and the source archive, the chart as a package, the runtime image as an OCI archive, a bill of
materials (CycloneDX) for the wheel and one for the image, and the checksums of all of them. The version is
that of sparkgen, which the chart must share; times are the commit's: a second run gives the same wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import IO

import yaml
from cyclonedx.contrib.this.builders import this_component
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from cluster import ociimage, runtime_image
from cluster.ociimage import Image
from common import progress
from common.cachedir import ToolError
from common.command import run, tells_errors
from gotools import gotools
from spark import scheduler, spark_home
from sparkgen import __version__, contract
from sparkgen.spark_versions import COMPILED

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "charts" / "spark-app"
SUMS = "SHA256SUMS"
DPKG_STATUS = "var/lib/dpkg/status"


@tells_errors
def main(arguments: list[str] | None = None) -> int:
    """Make the folder; 1 with a reason when that cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder; an earlier release in it is replaced")
    parser.add_argument(
        "--image", type=Path, help="runtime image to include, as `sparkgen image build --output` wrote it"
    )
    parser.add_argument("--dirty", action="store_true", help="release even if there are uncommitted changes")
    options = parser.parse_args(arguments)
    agree(ROOT, dirty=options.dirty)
    options.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder.parent) as work:
        made = Path(work) / "release"
        made.mkdir()
        build(made, options.image)
        shutil.rmtree(options.folder, ignore_errors=True)
        made.rename(options.folder)
    print((options.folder / SUMS).read_text(encoding="utf-8"), end="")
    progress.say(f"the release {__version__} is in {options.folder}; nothing was pushed")
    return 0


def agree(root: Path, *, dirty: bool) -> None:
    """ToolError when versions differ, or what would be released is in no commit."""
    chart = yaml.safe_load((root / "charts" / "spark-app" / "Chart.yaml").read_text(encoding="utf-8"))
    for field in ("version", "appVersion"):
        if str(chart[field]) != __version__:
            raise ToolError(
                f"Chart.yaml has {field} {chart[field]}, sparkgen is {__version__}: make them equal"
            )
    changes = _git(root, "status", "--porcelain")
    if changes and not dirty:
        raise ToolError(
            f"there are uncommitted changes; commit them, or add --dirty to release them:\n{changes}"
        )


def _git(root: Path, *arguments: str) -> str:
    return run("git", "-C", str(root), *arguments).rstrip()


def build(folder: Path, image: Path | None = None) -> None:
    """Write every part into an empty folder. Without an `image`, one for this machine is built on Debian."""
    progress.say("building the wheel and the source archive ...")
    _run(sys.executable, "-I", "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    progress.say("packing the chart ...")
    _run(str(gotools.ensure("helm")), "package", str(CHART), "--destination", str(folder))
    archive, status = _given_image(folder, image) if image else _own_image(folder)
    _write_bom(folder / f"{wheel.stem}.cdx.json", "sparkgen", python_components(resolved(wheel)))
    parts = [
        *debian_components(status),
        *python_components(runtime_image.requirements()),
        *jar_components(),
    ]
    _write_bom(folder / f"{archive.name.removesuffix('.oci.tar')}.cdx.json", "sparkgen-runtime", parts)
    (folder / SUMS).write_text(sums(folder), encoding="utf-8")


def _own_image(folder: Path) -> tuple[Path, str]:
    """The image for this machine's architecture, on Debian as it is today; and its list of packages."""
    image = runtime_image.runtime()
    progress.say("writing the image ...")
    archive = folder / f"sparkgen-runtime-{__version__}-{image.architecture}.oci.tar"
    with archive.open("wb") as output:
        ociimage.write(output, {contract.RUNTIME_IMAGE: image})
    return archive, dpkg_status(image)


def _given_image(folder: Path, image: Path) -> tuple[Path, str]:
    """A copy of the image that was built before, for all its architectures; and its list of packages."""
    archive = folder / f"sparkgen-runtime-{__version__}.oci.tar"
    shutil.copyfile(image, archive)
    return archive, archived_status(archive)


@cache
def committed() -> int:
    """When what is released was committed, in seconds since 1970."""
    return int(_git(ROOT, "log", "-1", "--format=%ct"))


def _run(*command: str) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(committed())}
    run(*command, environment=environment)


def sums(folder: Path) -> str:
    """A line for each file, as `sha256sum --check` reads it."""
    lines = []
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return "".join(lines)


# --- bills of materials -----------------------------------------------------------------------------


def resolved(wheel: Path) -> list[str]:
    """What pip would install with the wheel and its extra for clusters, as NAME==VERSION."""
    command = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    failed = "pip cannot resolve what the wheel needs"
    report = run(*command, "--report", "-", f"{wheel}[cluster]", failed=failed)
    found = [item["metadata"] for item in json.loads(report)["install"]]
    return sorted(f"{item['name']}=={item['version']}" for item in found if item["name"] != "sparkgen")


def python_components(pins: Iterable[str]) -> Iterator[Component]:
    """The components that NAME==VERSION names, from PyPI."""
    for pin in pins:
        name, _, version = pin.partition("==")
        yield _component(name, version, PackageURL("pypi", name=name.lower(), version=version))


def jar_components() -> Iterator[Component]:
    """The scheduler's jars, each with the Spark and the Scala that it was compiled against."""
    for line, version in COMPILED.items():
        yield jar_component(scheduler.ensure(line), version, scala_version(spark_home.ensure(version)))


def jar_component(jar: Path, spark: str, scala: str) -> Component:
    """A jar of the project as a component, with the checksum of its file."""
    url = PackageURL("maven", "dev.sparkgen", jar.stem, __version__)
    component = _component(jar.stem, __version__, url)
    digest = hashlib.sha256(jar.read_bytes()).hexdigest()
    component.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=digest))
    for name, found in (("spark", spark), ("scala", scala)):
        component.properties.add(Property(name=f"sparkgen:compiled-against:{name}", value=found))
    return component


def scala_version(home: Path) -> str:
    """The whole version of the Scala in a release of Spark ("2.12.18"), by the library among its jars."""
    for jar in sorted((home / "jars").glob("scala-library-*.jar")):
        return jar.stem.removeprefix("scala-library-")
    raise ToolError(f"there is no scala-library in {home / 'jars'}")


def dpkg_status(image: Image) -> str:
    """The list of Debian's packages in the image's uppermost layer that has one."""
    for part in reversed(image.layers):
        with ociimage.opened(part) as file:
            if found := _status_in(file):
                return found
    raise ToolError(f"the image has no {DPKG_STATUS}; check that it is a Debian image")


def archived_status(archive: Path) -> str:
    """The list of Debian's packages in an OCI archive, of the first architecture in it.

    The base has the same packages for each, in the same versions.
    """
    with tarfile.open(archive) as files:

        def blob(digest: str) -> IO[bytes]:
            found = files.extractfile(f"blobs/{digest.replace(':', '/')}")
            if found is None:
                raise ToolError(f"{archive} has no {digest}")
            return found

        index = files.extractfile("index.json")
        manifest = json.load(index) if index else {"manifests": []}
        while "manifests" in manifest:
            manifest = json.load(blob(manifest["manifests"][0]["digest"]))
        for layer in reversed(manifest["layers"]):
            if found := _status_in(blob(layer["digest"])):
                return found
    raise ToolError(f"{archive} has no {DPKG_STATUS}; check that it is a Debian image")


def _status_in(layer: IO[bytes]) -> str:
    """The list of Debian's packages in a layer; "" if it has none."""
    with tarfile.open(fileobj=layer) as content:
        for name in (DPKG_STATUS, f"./{DPKG_STATUS}"):
            if name in content.getnames() and (found := content.extractfile(name)):
                return found.read().decode("utf-8")
    return ""


def debian_components(status: str) -> Iterator[Component]:
    """The installed packages of a dpkg status file (https://manpages.debian.org/dpkg-query)."""
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", paragraph, flags=re.MULTILINE))
        if fields.get("Status") == "install ok installed":
            architecture = {"arch": fields["Architecture"]}
            url = PackageURL("deb", "debian", fields["Package"], fields["Version"], architecture)
            yield _component(fields["Package"], fields["Version"], url)


def _component(name: str, version: str, url: PackageURL) -> Component:
    return Component(type=ComponentType.LIBRARY, name=name, version=version, purl=url, bom_ref=str(url))


def _write_bom(path: Path, name: str, components: Iterable[Component]) -> None:
    """A bill of materials in CycloneDX 1.6, with the commit's time and a number that stays the same."""
    when = datetime.fromtimestamp(committed(), UTC)
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"https://sparkgen.dev/{path.name}/{when.isoformat()}")
    bom = Bom(components=components, serial_number=number)
    bom.metadata.timestamp = when
    whole = Component(type=ComponentType.APPLICATION, name=name, version=__version__, bom_ref=name)
    bom.metadata.component = whole
    bom.metadata.tools.components.add(this_component())
    bom.register_dependency(whole, list(bom.components))
    path.write_text(JsonV1Dot6(bom).output_as_string(indent=1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
