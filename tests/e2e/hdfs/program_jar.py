"""The programs of these tests that are a jar: a function for executors, and an application."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from common.cachedir import ToolError
from spark import spark_home
from sparkgen.spark_versions import NEWEST

SOURCES = Path(__file__).with_name("programs")


def made(folder: Path) -> Path:
    """The jar, below `folder`; ToolError when its sources do not compile."""
    classes, jar = folder / "classes", folder / "programs.jar"
    classes.mkdir(parents=True)
    sources = sorted(map(str, SOURCES.glob("*.java")))
    of_spark = f"{spark_home.ensure(NEWEST.version) / 'jars'}/*"
    command = ["javac", "-proc:none", "--release", "17", "-cp", of_spark, "-d", str(classes), *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError(f"the programs cannot be compiled:\n{done.stderr[-1000:]}")
    with zipfile.ZipFile(jar, "w") as archive:
        for path in sorted(classes.glob("*.class")):
            archive.write(path, path.name)
    return jar
