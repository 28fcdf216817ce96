"""Writes the build context, the folder from which a builder makes the image: Dockerfile, Python code, jars.

The same version of sparkgen always writes the same bytes, with the same times and modes.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sparkgen.image.pins import LIBRARIES
from sparkgen.local import jars, java, spark
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import Progress, run
from sparkgen.local.scala import Compiler
from sparkgen.spark_versions import COMPILED

PACKAGE = Path(__file__).resolve().parents[1]
RECIPE = (PACKAGE / "_runtime", PACKAGE.parent / "images" / "runtime")
"""The folder with the Dockerfile and the image's command: in the wheel, in a checkout."""
PARTS = (
    *("__init__.py", "codes.py", "contract.py", "jsonvalue.py", "killing.py", "phrases.py", "runtime"),
    "unseen.py",
)
"""The parts of the package that run in a cluster; the image has no generator and none of its libraries."""
TIMESTAMP = 1704067200
"""The modification time of every file: the start of 2024."""


def write(folder: Path, environment: Mapping[str, str], progress: Progress) -> None:
    """Write the whole context to a new folder. Raises CannotRun if a part of it is not available."""
    folder.mkdir(parents=True)
    code(folder)
    libraries(folder / "python", folder / "download", progress)
    (folder / "jars").mkdir()
    for jar in scheduler_jars(environment, progress):
        shutil.copyfile(jar, folder / "jars" / jar.name)
    settle(folder)


def code(folder: Path) -> None:
    """Write the files of RECIPE and those of the package."""
    for path in sorted(_recipe().iterdir()):
        if path.is_file():  # an installer adds a folder with the compiled form of Python files
            shutil.copyfile(path, folder / path.name)
    for name, data in package():
        (folder / "python" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "python" / name).write_bytes(data)


def package() -> Iterator[tuple[str, bytes]]:
    """The path below the folder `python`, and the content, of each sparkgen file that runs in a cluster."""
    for part in PARTS:
        path = PACKAGE / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield (Path("sparkgen") / file.relative_to(PACKAGE)).as_posix(), file.read_bytes()


def _recipe() -> Path:
    for place in RECIPE:
        if place.is_dir():
            return place
    raise CannotRun(f"sparkgen is not fully installed: {RECIPE[0]} is missing; install it again")


def libraries(folder: Path, work: Path, progress: Progress) -> None:
    """Unpack the runtime's libraries to a folder. `work`: a new folder, which is deleted afterwards.

    The wheels are only unpacked: none of their code runs here.
    """
    work.mkdir()
    wanted = work / "requirements.txt"
    wanted.write_text("".join(f"{pin.requirement}\n" for pin in LIBRARIES))
    run(
        progress,
        f"fetching {', '.join(f'{pin.name} {pin.version}' for pin in LIBRARIES)} from PyPI",
        [
            *spark.pip(work, progress),
            *("download", "--quiet"),
            *("--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes"),
            *(f"--dest={work / 'wheels'}", f"--requirement={wanted}"),
        ],
    )
    for wheel in sorted((work / "wheels").iterdir()):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    shutil.rmtree(work)


def scheduler_jars(environment: Mapping[str, str], progress: Progress) -> Sequence[Path]:
    """The scheduler's jar for each Scala line, compiled if the cache has none."""
    return [scheduler_jar(line, environment, progress) for line in COMPILED]


def scheduler_jar(line: str, environment: Mapping[str, str], progress: Progress) -> Path:
    """The scheduler's jar for a Scala line, compiled if the cache has none."""
    version = COMPILED[line]
    compiler = Compiler(
        version,
        line,
        lambda: spark.fetched(version, environment, progress),
        lambda: java.find(environment).command,
    )
    return jars.scheduler(compiler, environment, progress)


def settle(folder: Path) -> None:
    """Set the mode and the time of every file to those that it has in all images."""
    for path in [*folder.rglob("*"), folder]:
        program = path.is_dir() or path.read_bytes()[:2] == b"#!"
        path.chmod(0o755 if program else 0o644)
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (TIMESTAMP, TIMESTAMP))
