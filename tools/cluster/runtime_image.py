"""The runtime image (images/runtime), and a Spark image with the runtime (images/spark-with-runtime).

python tools/cluster/runtime_image.py [--spark] FOLDER

only writes the build context of the Dockerfile to the folder (with --spark, that of the second image).
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

if __name__ == "__main__":  # as a script: find the tools and the package
    sys.path[:0] = [str(Path(__file__).resolve().parents[above]) for above in (1, 2)]

from cluster import images, ociimage
from cluster.ociimage import Image
from common import progress
from common.cachedir import key
from common.command import tells_errors
from spark import scheduler
from sparkgen.image import context as context_of_image
from sparkgen.image.pins import machine_architecture
from sparkgen.spark_versions import COMPILED

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "images" / "runtime"
RECIPE_WITH_SPARK = ROOT / "images" / "spark-with-runtime"
RECIPE_WITH_ARCHIVE = ROOT / "images" / "spark-with-archive"
ARCHIVE_FILES = ("class-archive.py", "class-archive.sh", "entrypoint.sh")
"""The files for an image with the class archive, from the recipe of the image with the runtime."""
NAME = "runtime.sparkgen.invalid/sparkgen-runtime:1"
"""The default runtime image of applications (contract.RUNTIME_IMAGE)."""
CONFIGURED = Path(__file__).resolve().parent
"""A folder with a .sparkgen.yaml that names this image, for commands that are called there."""
REPOSITORY_WITH_SPARK = "docker.io/sparkgen/spark"
"""The repository of the images of Spark with the runtime; the tag is Spark's version."""
REPOSITORY_WITH_ARCHIVE = "docker.io/sparkgen/spark-with-archive"
"""The repository of the images of Spark with only the class archive; the tag is Spark's version."""
PACKAGES = ("python3", "ca-certificates")
"""Debian's packages that stand for the base of the runtime image."""
PYTHON_PACKAGES = ("python3",)
"""Debian's packages of a whole image with Python and a shell."""
PYTHON = "python.sparkgen.invalid/python:stand-in"
"""Debian's Python, which stands for an official image of Python: without a network, nodes pull none."""
FAKETIME = "/usr/$LIB/faketime/libfaketimeMT.so.1"
"""Debian's libfaketime; the dynamic linker replaces $LIB by the architecture's folder."""


def runtime(architecture: str = "") -> Image:
    """The runtime image for an architecture (default: that of this machine), built if necessary."""
    own = machine_architecture()
    wanted = architecture or own
    bases = [images.unpacked(PACKAGES, each) for each in dict.fromkeys((own, wanted))]

    def build(context: Path, folder: Path) -> Image:
        return images.build_alone(context, bases, folder, wanted)

    return _made([RECIPE], bases, build)


def spark_with_runtime(version: str) -> Image:
    """The image of a Spark version with the runtime, built if necessary."""
    below = images.spark(version)

    def build(context: Path, folder: Path) -> Image:
        return images.build(context, below, folder, "--build-arg=BASE=base")

    return _made([RECIPE, RECIPE_WITH_SPARK], [below], build, below)


def spark_with_archive(version: str) -> Image:
    """The image of a Spark version with the class archive, built if necessary.

    It contains neither the allocator nor the jar, so a change of these does not build it again.
    """
    below = images.spark(version)
    files = [RECIPE_WITH_ARCHIVE / "Dockerfile", *(RECIPE_WITH_SPARK / name for name in ARCHIVE_FILES)]
    parts = [part for path in files for part in (path.name, path.read_bytes())]

    def make(folder: Path) -> Image:
        (folder / "context").mkdir()
        for path in files:
            shutil.copy(path, folder / "context" / path.name)
        progress.say(f"making the archive of classes of Spark {version} (once; two minutes)")
        made = images.build(folder / "context", below, folder, "--build-arg=BASE=base")
        shutil.rmtree(folder / "context")
        return made

    return images.kept("archive", f"{version}-{key(*parts, ociimage.digest(below))}", make, below)


def with_clock(offset: str) -> Image:
    """The runtime image with an offset of the wall clock, as libfaketime reads it ("+10m").

    The monotonic clock is not changed, because on real machines nothing sets it either.
    """
    base = images.unpacked(("faketime",), machine_architecture())
    with ociimage.opened(base.layers[0]) as file, tarfile.open(fileobj=file) as files:
        (library,) = (entry for entry in files if entry.name.endswith(FAKETIME.rpartition("/")[2]))
        content = files.extractfile(library)
        clock = ociimage.tar({library.name.removeprefix("./"): content.read() if content else b""})
    faked = (f"FAKETIME={offset}", "FAKETIME_DONT_FAKE_MONOTONIC=1", f"LD_PRELOAD={FAKETIME}")
    made = runtime()
    return ociimage.on_top(made, ociimage.layer(clock), Env=[*made.config.get("Env", ()), *faked])


def _made(
    recipes: list[Path],
    bases: list[Image],
    build: Callable[[Path, Path], Image],
    below: Image | None = None,
) -> Image:
    """The image that `build` makes of a context and `bases`, in a folder; as layer on `below`."""
    files = [part for folder in recipes for name, data in _files(folder) for part in (name, data)]
    code = [part for name, data in _package() for part in (name, data)]
    jars = [part for jar in _jars() for part in (jar.name, jar.read_bytes())]
    name = key(*files, *code, *jars, *requirements(), *(ociimage.digest(base) for base in bases))

    def make(folder: Path) -> Image:
        context(folder / "context", recipes)
        progress.say("building the runtime image (once for each change of the allocator or the jar)")
        made = build(folder / "context", folder)
        shutil.rmtree(folder / "context")
        return made

    return images.kept("runtime", name, make, below)


def context(folder: Path, recipes: list[Path]) -> None:
    """Write the build context of the Dockerfile; files of a later recipe replace those of an earlier one."""
    for recipe in recipes:
        shutil.copytree(recipe, folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    python = folder / "python"
    for name, data in _package():
        (python / name).parent.mkdir(parents=True, exist_ok=True)
        (python / name).write_bytes(data)
    context_of_image.libraries(python, folder / "venv", progress.Steps())
    (folder / "jars").mkdir()
    for jar in _jars():
        shutil.copy(jar, folder / "jars" / jar.name)


def requirements() -> list[str]:
    """The pinned libraries of the runtime: pyproject.toml's extra `runtime`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [str(entry) for entry in project["project"]["optional-dependencies"]["runtime"]]


def _package() -> Iterator[tuple[str, bytes]]:
    return context_of_image.package()


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    return ((path.name, path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file())


def _jars() -> list[Path]:
    return [scheduler.ensure(line) for line in COMPILED]


@tells_errors
def main() -> int:
    """Write a build context to the folder in the last argument. Returns the exit code."""
    options, folders = sys.argv[1:-1], sys.argv[-1:]
    if options not in ([], ["--spark"]) or folders[0].startswith("-") or Path(folders[0]).exists():
        print(
            "usage: python tools/cluster/runtime_image.py [--spark] FOLDER (a new folder)",
            file=sys.stderr,
        )
        return 2
    context(Path(folders[0]), [RECIPE, RECIPE_WITH_SPARK] if options else [RECIPE])
    return 0


if __name__ == "__main__":
    sys.exit(main())
