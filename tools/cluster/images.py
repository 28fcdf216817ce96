"""Container images for tests, built into the cache: a Debian base by mmdebstrap, Spark by buildah.

An image's archive is named by a key of all that went into it, but for the Debian packages' versions: those
are what the archive of Debian's stable release held on the day the base was made.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

import golang
import progress
from cachedir import ToolError, cache_root, environment, key, publish

RECIPE = Path(__file__).resolve().parents[2] / "images" / "spark"
SUITE = "bookworm"
PACKAGES = ("openjdk-17-jre-headless", "procps", "python3", "tini")
REPOSITORY = "docker.io/apache/spark"
TESTED_VERSIONS = ("3.5.8", "4.3.0")
"""The Spark versions that end-to-end tests run on: the last of the 3.x line, and the newest."""

LAYOUT = {
    **{f"deps/{name}": name for name in ("bin", "sbin", "jars", "data", "licenses")},
    "deps/examples": "examples/src/main/python",
    "pyspark": "python/pyspark",
    "lib": "python/lib",
}
"""Where a folder of PyPI's source package is in a release of Spark."""


def spark_version(tag: str) -> str:
    """The Spark version in an image's tag ("3.5.8-java17-python3"); ToolError when there is none."""
    found = re.match(r"\d+\.\d+\.\d+", tag)
    if found is None:
        raise ToolError(f"the tag {tag!r} does not start with a Spark version, like 3.5.8 or 3.5.8-scala.")
    return found[0]


def spark_images(tags: Iterable[str]) -> dict[str, Path]:
    """The Spark images of these tags: full name and archive, built if need be."""
    return {f"{REPOSITORY}:{tag}": spark(spark_version(tag)) for tag in tags}


def _waiting() -> None:
    progress.say("waiting for an image that another process is building")


def _folder(kind: str, name: str) -> Path:
    # A folder for each kind: publish locks it, and a Spark image is made while its base is asked for.
    return cache_root(environment()) / "images" / kind / name


def base() -> Path:
    """The archive of the base's root file system."""
    target = _folder("base", f"{SUITE}-{key(SUITE, *PACKAGES)}")
    return publish(target, _make_base, _waiting) / "base.tar"


def _make_base(folder: Path) -> None:
    _step(
        f"making the base image of Debian {SUITE} (once; a minute)",
        *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}"),
        *(SUITE, str(folder / "base.tar")),
    )


def spark(version: str) -> Path:
    """The OCI archive of the Spark image."""
    recipe = [path.read_bytes() for path in sorted(RECIPE.iterdir())]
    target = _folder("spark", f"{version}-{key(*recipe, str(LAYOUT), SUITE, *PACKAGES)}")
    return publish(target, lambda folder: _make_spark(version, folder), _waiting) / "image.tar"


def _make_spark(version: str, folder: Path) -> None:
    context = folder / "context"
    context.mkdir()
    os.link(base(), context / "base.tar")
    _unpack(_download(version, folder), context / "spark")
    for path in RECIPE.iterdir():
        shutil.copy(path, context / path.name)
    storage = folder / "storage"
    buildah = (
        *("buildah", f"--root={storage / 'root'}", f"--runroot={storage / 'run'}"),
        "--storage-driver=overlay",
    )
    try:
        _step(
            f"building the image of Spark {version} (once; a minute)",
            *(*buildah, "build", "--isolation=chroot", "--layers=false", "--squash", "--timestamp=0"),
            *("--tag=spark", str(context)),
        )
        _step(
            f"writing the image of Spark {version}",
            *(*buildah, "push", "--quiet", "spark", f"oci-archive:{folder / 'image.tar'}:spark"),
        )
    finally:
        _step("removing what buildah keeps", *buildah, "rm", "--all")
        _step("removing buildah's images", *buildah, "rmi", "--all", "--force")
    for name in ("context", "storage", "venv", "download"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _download(version: str, folder: Path) -> Path:
    # A venv for its pip: the Python at hand may have none, or may be managed by its distribution.
    python = folder / "venv" / "bin" / "python"
    _step("making a place for pip", sys.executable, "-m", "venv", str(folder / "venv"))
    _step(
        f"fetching Spark {version} from PyPI (300 MB or more)",
        *(str(python), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
        *("--no-cache-dir", "--no-binary=pyspark", f"--dest={folder / 'download'}", f"pyspark=={version}"),
    )
    (archive,) = (folder / "download").glob("pyspark-*.tar.gz")
    return archive


def _unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as package:
        package.extractall(target.parent / "package", filter="data")
    (source,) = (target.parent / "package").iterdir()
    for origin, place in LAYOUT.items():
        if (source / origin).is_dir():
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            (source / origin).rename(target / place)
    shutil.rmtree(target.parent / "package")


def _step(title: str, *command: str) -> None:
    code, output = progress.run(title, command)
    if code:
        full = "no space left" in output.lower()
        advice = "Make room, or set SPARKGEN_CACHE to a folder on another disk." if full else ""
        raise ToolError(f"{title}: failed.\n{golang.tail(output)}\n{advice}".rstrip())
