"""A release: what it refuses, its checksums, and what its bill of materials lists."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

import pytest

import release
from common.cachedir import ToolError
from sparkgen import __version__

STATUS = """Package: python3-minimal
Status: install ok installed
Architecture: amd64
Version: 3.13.5-1
Description: Python
 Version: of a continuation line, which is none

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1
"""


def checkout(folder: Path, version: str = __version__, app_version: str = __version__) -> Path:
    """A repository in which all that there is, a chart, is committed."""
    chart = folder / "charts" / "spark-app" / "Chart.yaml"
    chart.parent.mkdir(parents=True)
    chart.write_text(f"version: {version}\nappVersion: {app_version}\n", encoding="utf-8")
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "."), (*person, "commit", "-qm", "Begin")):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return folder


@pytest.mark.parametrize("field", ["version", "app_version"])
def test_a_chart_of_another_version_is_not_released(tmp_path: Path, field: str) -> None:
    """Chart and sparkgen have one version."""
    with pytest.raises(ToolError, match=r"9\.9\.9"):
        release.agree(checkout(tmp_path, **{field: "9.9.9"}), dirty=True)


def test_only_what_is_committed_is_released(tmp_path: Path) -> None:
    """Unless that is asked for."""
    folder = checkout(tmp_path)
    release.agree(folder, dirty=False)
    (folder / "new.py").touch()
    with pytest.raises(ToolError, match=r"new\.py"):
        release.agree(folder, dirty=False)
    release.agree(folder, dirty=True)


def test_sha256sum_reads_the_checksums(tmp_path: Path) -> None:
    """Each file has a line, and a changed file is found."""
    (tmp_path / "a.whl").write_bytes(b"a")
    (tmp_path / "b.tar").write_bytes(b"b")
    text = release.sums(tmp_path)
    (tmp_path / release.SUMS).write_text(text, encoding="utf-8")
    check = ["sha256sum", "--check", "--status", release.SUMS]
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "b.tar").write_bytes(b"c")
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 1


def test_installed_packages_are_listed_alone() -> None:
    """With Debian's package URL; a package that was removed is not there any more."""
    assert [str(part.purl) for part in release.debian_components(STATUS)] == [
        "pkg:deb/debian/python3-minimal@3.13.5-1?arch=amd64"
    ]


def test_a_jar_is_listed_with_what_it_was_compiled_against(tmp_path: Path) -> None:
    """Its checksum names the very file; Spark and Scala are in no field of their own."""
    jar = tmp_path / "sparkgen-scheduler_2.12.jar"
    jar.write_bytes(b"jar")
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "scala-library-2.12.18.jar").touch()
    assert release.scala_version(tmp_path) == "2.12.18"
    found = release.jar_component(jar, "3.5.8", "2.12.18")
    assert str(found.purl) == f"pkg:maven/dev.sparkgen/sparkgen-scheduler_2.12@{__version__}"
    assert [one.content for one in found.hashes] == [hashlib.sha256(b"jar").hexdigest()]
    assert {one.name.rpartition(":")[2]: one.value for one in found.properties} == {
        "spark": "3.5.8",
        "scala": "2.12.18",
    }


def blob(files: tarfile.TarFile, data: bytes) -> str:
    """Add a blob to an OCI archive; its digest."""
    digest = hashlib.sha256(data).hexdigest()
    entry = tarfile.TarInfo(f"blobs/sha256/{digest}")
    entry.size = len(data)
    files.addfile(entry, io.BytesIO(data))
    return f"sha256:{digest}"


def layer(**content: str) -> bytes:
    """A compressed layer with these files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as files:
        for name, text in content.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            files.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()


def test_packages_of_an_image_for_several_architectures(tmp_path: Path) -> None:
    """Of the uppermost layer that lists them, through an index in the index, as builders write it."""
    with tarfile.open(tmp_path / "image.tar", "w") as files:
        status = {release.DPKG_STATUS: STATUS}
        layers = [layer(**{release.DPKG_STATUS: "old"}), layer(**status), layer(other="")]
        manifest = {"layers": [{"digest": blob(files, one)} for one in layers]}
        inner = {"manifests": [{"digest": blob(files, json.dumps(manifest).encode())}]}
        outer = json.dumps({"manifests": [{"digest": blob(files, json.dumps(inner).encode())}]}).encode()
        entry = tarfile.TarInfo("index.json")
        entry.size = len(outer)
        files.addfile(entry, io.BytesIO(outer))
    assert release.archived_status(tmp_path / "image.tar") == STATUS
