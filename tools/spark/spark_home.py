"""Releases of Spark for tests and builds on this machine: those that `sparkgen run --local` fetches.

    .venv/bin/python tools/spark/spark_home.py 4.3.0    print the folder (a SPARK_HOME); fetch it if need be

The module is not called pyspark: tools/ is on the path of the tests, and must not hide the library.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import progress
from common.cachedir import ToolError, environment
from common.command import tells_errors
from sparkgen.local import spark
from sparkgen.local.errors import CannotRun
from sparkgen.spark_versions import JAVA

JAVA_ADVICE = (
    f"Install Java {' or '.join(map(str, JAVA))}, and put it on the PATH or name its folder in JAVA_HOME."
)

LAYOUT = spark.LAYOUT
"""Where a folder of PyPI's source package is in a release of Spark."""


class Steps:
    """Tells of the steps of sparkgen.local as the other tools do."""

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Say when a step begins."""
        progress.say(f"{title} ...")
        yield lambda _: None

    def say(self, text: str) -> None:
        """Say something."""
        progress.say(text)


def ensure(version: str) -> Path:
    """The SPARK_HOME of `version` ("4.3.0"); ToolError when PyPI or the disk does not give it."""
    try:
        return spark.fetched(version, environment(), Steps())
    except CannotRun as error:
        raise ToolError(str(error)) from None


def scala_line(home: Path) -> str:
    """The Scala line ("2.12") of a SPARK_HOME, by the library among its jars."""
    for jar in sorted((home / "jars").glob("scala-library-*.jar")):
        if found := re.match(r"scala-library-(\d+\.\d+)\.", jar.name):
            return found[1]
    raise ToolError(f"there is no scala-library in {home / 'jars'}: name the folder of a Spark release.")


def java() -> Path:
    """The Java that Spark starts, of JAVA_HOME or else of the PATH; ToolError when it will not do."""
    variables = environment()
    home = variables.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java", path=variables.get("PATH"))
    if found is None or not Path(found).is_file():
        raise ToolError(
            f"there is no Java{f' in JAVA_HOME={home}' if home else ' on the PATH'}. {JAVA_ADVICE}"
        )
    said = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    major = java_major(said)
    if major < JAVA[0]:
        raise ToolError(f"{found} is Java {major or '?'}. {JAVA_ADVICE}")
    return Path(found)


def java_major(said: str) -> int:
    """The major version in what `java -version` says: 17 of "17.0.15", 8 of "1.8.0_452"; 0 without one."""
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0


@tells_errors
def main() -> int:
    """Print the folder of the version that the first argument names."""
    if len(sys.argv) != 2:
        print("usage: python tools/spark/spark_home.py VERSION, like 4.3.0", file=sys.stderr)
        return 2
    print(ensure(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
