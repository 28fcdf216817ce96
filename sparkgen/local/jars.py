"""The jars that a local run compiles itself: the scheduler's, and some of Spark's examples.

Their Scala sources are in the wheel; in a checkout they are in the folder `images`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sparkgen.local.cache import cache_root, key, publish
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import Progress
from sparkgen.local.scala import Compiler, compile_jar

PACKAGE = Path(__file__).resolve().parents[1]
SCHEDULER = (PACKAGE / "_scheduler", PACKAGE.parent / "images" / "scheduler")
EXAMPLES = (PACKAGE / "_examples", PACKAGE.parent / "images" / "spark")
"""The folders of the sources: in the wheel, and in a checkout."""

LINE_RESOURCE = "META-INF/sparkgen/scala-line"
"""The file in the scheduler's jar with its Scala version, which ScalaLine.scala reads."""


def scheduler(compiler: Compiler, environment: Mapping[str, str], progress: Progress) -> Path:
    """The scheduler's jar for a Spark, compiled if necessary. Raises CannotRun if that fails."""
    folder = _first(SCHEDULER)
    sources = sorted((folder / "src").rglob("*.scala"))
    extra = {**resources(folder / "resources"), LINE_RESOURCE: f"{compiler.scala}\n".encode()}
    return _ensure("sparkgen-scheduler", sources, extra, compiler, environment, progress)


def examples(compiler: Compiler, environment: Mapping[str, str], progress: Progress) -> Path:
    """A jar with SparkPi and JavaWordCount; PyPI's pyspark does not have the jar of Spark's examples."""
    sources = sorted(_first(EXAMPLES).glob("*.scala"))
    return _ensure("spark-examples", sources, {}, compiler, environment, progress)


def resources(folder: Path) -> dict[str, bytes]:
    """The files below a folder, by their paths in it."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _first(places: tuple[Path, ...]) -> Path:
    for place in places:
        if place.exists():
            return place
    raise CannotRun(f"sparkgen is not fully installed: {places[0]} is missing; install it again")


def _ensure(
    name: str,
    sources: list[Path],
    extra: Mapping[str, bytes],
    compiler: Compiler,
    environment: Mapping[str, str],
    progress: Progress,
) -> Path:
    parts = [part for path in sources for part in (path.name, path.read_bytes())]
    parts += [part for file, data in extra.items() for part in (file, data)]
    jar = f"{name}_{compiler.scala}.jar"
    made = publish(
        cache_root(environment) / name / f"{compiler.scala}-{key(compiler.version, *parts)}",
        lambda fresh: compile_jar(fresh / jar, sources, compiler, progress, extra),
        lambda: progress.say(f"waiting for {jar}, which another process is compiling"),
    )
    return made / jar
