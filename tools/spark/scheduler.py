"""Compile the scheduler jar (images/scheduler) for a Scala line, with the compiler among Spark's own jars.

    .venv/bin/python tools/spark/scheduler.py                    both lines, into the cache; prints the paths
    .venv/bin/python tools/spark/scheduler.py 2.13               one of them
    .venv/bin/python tools/spark/scheduler.py --spark-home DIR   the line of that Spark, compiled against it
    .venv/bin/python tools/spark/scheduler.py --output FOLDER    and copies each jar there

A jar's bytes depend on the sources and the Spark version only.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import progress
from common.cachedir import ToolError, environment
from common.command import tells_errors
from spark import spark_home
from sparkgen.local import jars
from sparkgen.local.scala import Compiler
from sparkgen.spark_versions import COMPILED


def ensure(line: str) -> Path:
    """The jar of a Scala line ("2.12"), compiled against the Spark version that line is tested on."""
    if line not in COMPILED:
        raise ToolError(f"there is no Scala line {line!r} here; there are: {', '.join(COMPILED)}.")
    version = COMPILED[line]
    return _jar(line, version, lambda: spark_home.ensure(version))


def ensure_for(home: Path) -> Path:
    """The jar of the Scala line of the Spark release in `home`, compiled against that release."""
    release = spark_home.release(home)
    return _jar(release.scala, release.version, lambda: home)


def _jar(line: str, version: str, home: Callable[[], Path]) -> Path:
    return jars.scheduler(Compiler(version, line, home, spark_home.java), environment(), progress.Steps())


@tells_errors
def main() -> int:
    """Build what the arguments name, and print the paths."""
    parser = argparse.ArgumentParser(description="Compile the scheduler jar.")
    parser.add_argument("lines", nargs="*", metavar="LINE", help=f"{' or '.join(COMPILED)}; both by default")
    parser.add_argument(
        "--spark-home", type=Path, help="a Spark release to compile against, instead of the tested ones"
    )
    parser.add_argument("--output", type=Path, help="a folder to copy the jars to")
    given = parser.parse_args()
    if given.spark_home:
        made = [ensure_for(given.spark_home)]
    else:
        made = [ensure(line) for line in given.lines or COMPILED]
    for jar in made:
        print(_copied(jar, given.output) if given.output else jar)
    return 0


def _copied(jar: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(jar, folder / jar.name))


if __name__ == "__main__":
    sys.exit(main())
