"""Compile the scheduler jar (images/scheduler) for a Scala line, with the compiler among Spark's own jars.

    python tools/scheduler.py                    both lines, into the cache; prints each jar's path
    python tools/scheduler.py 2.13               one of them
    python tools/scheduler.py --spark-home DIR   the line of that Spark release, compiled against it
    python tools/scheduler.py --output FOLDER    and copies each jar to FOLDER/sparkgen-scheduler_<line>.jar

A jar's bytes depend on the sources and the Spark version only.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import golang
import progress
import spark_home
from cachedir import ToolError, cache_root, environment, key, publish

SOURCE = Path(__file__).resolve().parents[1] / "images" / "scheduler"
LINE_RESOURCE = "META-INF/sparkgen/scala-line"
"""The file in the jar that holds its Scala line: ScalaLine.scala reads it."""
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can say


def jar_name(line: str) -> str:
    """The file name of the jar of a Scala line."""
    return f"sparkgen-scheduler_{line}.jar"


def ensure(line: str) -> Path:
    """The jar of a Scala line ("2.12"), compiled against the Spark version that line is tested on."""
    if line not in spark_home.VERSIONS:
        raise ToolError(f"there is no Scala line {line!r} here; there are: {', '.join(spark_home.VERSIONS)}.")
    version = spark_home.VERSIONS[line]
    return _jar(line, version, lambda: spark_home.ensure(version))


def ensure_for(home: Path) -> Path:
    """The jar of the Scala line of the Spark release in `home`, compiled against that release."""
    cores = sorted((home / "jars").glob("spark-core_*.jar"))
    line = spark_home.scala_line(home)
    return _jar(line, cores[0].stem if cores else "", lambda: home)


def _jar(line: str, version: str, home: Callable[[], Path]) -> Path:
    files = dict(sources(SOURCE))
    parts = [part for name, data in files.items() for part in (name, data)]
    target = cache_root(environment()) / "scheduler" / f"{line}-{key(line, version, *parts)}"
    made = publish(target, lambda folder: _compile(line, home(), list(files), folder), _waiting)
    return made / jar_name(line)


def sources(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The files that go into the jar or make it, by their path in `folder`, in order."""
    for path in sorted([*(folder / "src").rglob("*.scala"), *(folder / "resources").rglob("*")]):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _waiting() -> None:
    progress.say("waiting for a scheduler jar that another process is compiling")


def _compile(line: str, home: Path, files: list[str], folder: Path) -> None:
    classes = folder / "classes"
    classes.mkdir()
    code, output = progress.run(
        f"compiling the scheduler jar for Scala {line} (once; seconds)",
        [
            *(
                str(spark_home.java()),
                "-cp",
                f"{home / 'jars'}/*",
                "scala.tools.nsc.Main",
                "-usejavacp",
                "-nowarn",
            ),
            *("-d", str(classes), *(str(SOURCE / name) for name in files if name.endswith(".scala"))),
        ],
    )
    if code:
        raise ToolError(
            f"the scheduler does not compile for Scala {line}; the compiler said:\n{golang.tail(output, 40)}"
        )
    content = {path.relative_to(classes).as_posix(): path.read_bytes() for path in classes.rglob("*.class")}
    for name in files:
        if name.startswith("resources/"):
            content[name.removeprefix("resources/")] = (SOURCE / name).read_bytes()
    content[LINE_RESOURCE] = f"{line}\n".encode()
    write_jar(folder / jar_name(line), content)
    shutil.rmtree(classes)


def write_jar(path: Path, content: dict[str, bytes]) -> None:
    """A jar whose bytes depend on `content` (data by name) only: no times, no order of a file system."""
    manifest = b"Manifest-Version: 1.0\r\n\r\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, data in [("META-INF/MANIFEST.MF", manifest), *sorted(content.items())]:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            jar.writestr(entry, data)


def main() -> int:
    """Build what the arguments name, and print the paths."""
    parser = argparse.ArgumentParser(description="Compile the scheduler jar.")
    parser.add_argument(
        "lines", nargs="*", metavar="LINE", help=f"{' or '.join(spark_home.VERSIONS)}; both by default"
    )
    parser.add_argument(
        "--spark-home", type=Path, help="a Spark release to compile against, instead of the tested ones"
    )
    parser.add_argument("--output", type=Path, help="a folder to copy the jars to")
    given = parser.parse_args()
    try:
        if given.spark_home:
            jars = [ensure_for(given.spark_home)]
        else:
            jars = [ensure(line) for line in given.lines or spark_home.VERSIONS]
        for jar in jars:
            print(_copied(jar, given.output) if given.output else jar)
    except (ToolError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _copied(jar: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(jar, folder / jar.name))


if __name__ == "__main__":
    sys.exit(main())
