"""The bills of materials of a release (CycloneDX): the libraries of the wheel, and the parts of the image."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from cyclonedx.contrib.this.builders import this_component
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from common.cachedir import ToolError
from common.command import run
from release import archives
from spark import scheduler, spark_home
from sparkgen import __version__
from sparkgen.spark_versions import COMPILED

DPKG_STATUS = "var/lib/dpkg/status"


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


def archived_status(archive: Path) -> str:
    """The list of Debian's packages in an OCI archive, of the first architecture in it.

    The base has the same packages for each, in the same versions.
    """
    with tarfile.open(archive) as files:
        manifest, *_ = archives.manifests(files)
        for layer in reversed(manifest["layers"]):
            if found := _status_in(archives.blob(files, layer["digest"])):
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


def write(path: Path, name: str, components: Iterable[Component], committed: int) -> None:
    """A bill of materials in CycloneDX 1.6, with the commit's time and a number that stays the same."""
    when = datetime.fromtimestamp(committed, UTC)
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"https://sparkgen.dev/{path.name}/{when.isoformat()}")
    bom = Bom(components=components, serial_number=number)
    bom.metadata.timestamp = when
    whole = Component(type=ComponentType.APPLICATION, name=name, version=__version__, bom_ref=name)
    bom.metadata.component = whole
    bom.metadata.tools.components.add(this_component())
    bom.register_dependency(whole, list(bom.components))
    path.write_text(JsonV1Dot6(bom).output_as_string(indent=1), encoding="utf-8")
