"""The Spark of a document's version: that of SPARK_HOME if it fits, else PyPI's pyspark, downloaded once.

PyPI's source package of pyspark has everything in a release of Spark that applications need, except R and the
examples' jar. It is unpacked in the layout of a release, so that paths of the stock images exist in it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkgen.local.cache import cache_root, key, publish
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import Progress, megabytes, run
from sparkgen.spark_versions import ARCHIVES

LAYOUT = {
    **{f"deps/{name}": name for name in ("bin", "sbin", "jars", "data", "licenses")},
    "deps/examples": "examples/src/main/python",
    "pyspark": "python/pyspark",
    "lib": "python/lib",
}
"""Folder in PyPI's source package -> its place in a release of Spark."""


@dataclass(frozen=True, slots=True)
class Spark:
    """A Spark on this machine. `where`: its origin, in words."""

    home: Path
    version: str
    scala: str
    """The Scala version of its jars: 2.12 or 2.13."""
    where: str

    @property
    def python_path(self) -> str:
        """PYTHONPATH for importing pyspark."""
        bridges = sorted((self.home / "python" / "lib").glob("py4j-*.zip"))
        return os.pathsep.join(map(str, (self.home / "python", *bridges)))


def find(version: str, scala: str, environment: Mapping[str, str], progress: Progress) -> Spark:
    """The Spark of this version and Scala version, downloaded if needed. Raises CannotRun if that fails."""
    named = environment.get("SPARK_HOME")
    if named and (own := inspect(Path(named), f"SPARK_HOME ({named})")):
        if (own.version, own.scala) == (version, scala):
            return own
        progress.say(
            f"SPARK_HOME is Spark {own.version} for Scala {own.scala}, but the document needs {version} for "
            f"{scala}: it is not used"
        )
    home = fetched(version, environment, progress)
    found = inspect(home, f"PyPI's pyspark, in {home}")
    if found is None:
        raise CannotRun(f"{home} is not a Spark release: delete this folder to fetch it again")
    if found.scala != scala:
        raise CannotRun(
            f"spec.scalaVersion is {scala}, but PyPI has Spark {version} only for Scala {found.scala}: set "
            f"SPARK_HOME to a Spark {version} for Scala {scala}"
        )
    return found


def inspect(home: Path, where: str) -> Spark | None:
    """The Spark in a folder, identified by the name of its core's jar; None if there is none."""
    for jar in (home / "jars").glob("spark-core_*.jar"):
        if found := re.fullmatch(r"spark-core_(\d+\.\d+)-(.+)\.jar", jar.name):
            return Spark(home.absolute(), found[2], found[1], where)
    return None


def fetched(version: str, environment: Mapping[str, str], progress: Progress) -> Path:
    """The home of PyPI's Spark of this version, downloaded if necessary. Raises CannotRun if that fails."""
    target = cache_root(environment) / "spark" / f"{version}-{key(str(LAYOUT))}"
    return publish(
        target,
        lambda folder: _make(version, folder, environment, progress),
        lambda: progress.say(f"waiting for Spark {version}, which another process is fetching"),
    )


def _make(version: str, folder: Path, environment: Mapping[str, str], progress: Progress) -> None:
    archive = _download(version, folder, environment, progress)
    with progress.step(f"unpacking Spark {version}") as tell:
        tell("")
        check(archive, version)
        with tarfile.open(archive) as package:
            package.extractall(folder / "package", filter="data")
        (source,) = (folder / "package").iterdir()
        lay_out(source, folder)
    for name in ("package", "download", "venv", "tmp"):
        shutil.rmtree(folder / name, ignore_errors=True)


def check(archive: Path, version: str) -> None:
    """Raises CannotRun if the archive of a tested version has changed."""
    wanted = ARCHIVES.get(version)
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if wanted and found != wanted:
        raise CannotRun(
            f"{archive.name} has the SHA-256 {found}, but Spark {version} has {wanted}: the download differs "
            "from what PyPI published; check pip's index settings (pip config list)"
        )


def lay_out(source: Path, target: Path) -> None:
    """Move the folders of an unpacked source package to their places in a release of Spark."""
    for origin, place in LAYOUT.items():
        if (source / origin).is_dir():
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            (source / origin).rename(target / place)
    for script in (target / "bin").iterdir():
        script.chmod(script.stat().st_mode | 0o111)


def _download(version: str, folder: Path, environment: Mapping[str, str], progress: Progress) -> Path:
    fetch = pip(folder, progress)
    # pip's own temporary files: so their size can be counted, and they are removed after an interrupt.
    temporary = folder / "tmp"
    temporary.mkdir()
    wanted = temporary / "requirements.txt"
    wanted.write_text(requirement(version))
    hashes = ["--require-hashes"] if version in ARCHIVES else []
    fetch += ["download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    try:
        run(
            progress,
            f"fetching Spark {version} from PyPI (300 to 450 MB, once)",
            [
                *(*fetch, *hashes, "--no-cache-dir", "--no-binary=pyspark"),
                *(f"--dest={folder / 'download'}", f"--requirement={wanted}"),
            ],
            environment={**environment, "TMPDIR": str(temporary)},
            detail=lambda: f"{megabytes(temporary) + megabytes(folder / 'download'):.0f} MB",
        )
    except CannotRun as error:
        raise CannotRun(f"{error}\n{_advice(str(error), version)}") from None
    (archive,) = (folder / "download").glob("pyspark-*.tar.gz")
    return archive


def requirement(version: str) -> str:
    """The requirement for pip, with the hash of a tested version.

    pip runs code of a source package to read its metadata, but checks the hash before that.
    """
    known = f" --hash=sha256:{ARCHIVES[version]}" if version in ARCHIVES else ""
    return f"pyspark=={version}{known}\n"


def _advice(said: str, version: str) -> str:
    if "do not match the hashes" in said.lower():
        return "the download differs from what PyPI published; check pip's index settings (pip config list)"
    if "no space left" in said.lower():
        return "free some space, or set SPARKGEN_CACHE to a folder on another disk"
    if "No matching distribution" in said or "from versions:" in said:
        return f"PyPI has no pyspark {version}: fix spec.sparkVersion, or set SPARK_HOME to a Spark {version}"
    return f"try again, or set SPARK_HOME to a Spark {version} that is on this machine"


def pip(folder: Path, progress: Progress) -> list[str]:
    """The command for pip: that of the running Python, or of a new environment in `folder` if it has none.

    With `-P`, because Python would otherwise import from the working directory first, which is untrusted.
    """
    python = sys.executable
    if not importlib.util.find_spec("pip"):
        run(progress, "preparing an environment for pip", [python, "-P", "-m", "venv", str(folder / "venv")])
        python = str(folder / "venv" / "bin" / "python")
    return [python, "-P", "-m", "pip"]
